/**
 * The search limit for a single process: a sliding window per client, kept in memory and exact to
 * the millisecond. `shared-limiter.ts` shares the limit between processes. README.md has the rules for both.
 */
import { ClientTable, type Place } from "./client-table.ts";
import type { Decision, Limiter, LimiterOptions, LimiterStatus, LimitPolicy } from "./decision.ts";

/** How many pages of companies a client may open. */
const COMPANY_PAGES: LimitPolicy = { limit: 300, windowMs: 3_600_000 };

export class MemoryLimiter implements Limiter {
  readonly policy: LimitPolicy;
  readonly #searches: SlidingWindow;
  readonly #companyPages: SlidingWindow;
  readonly #maxClients: number;

  constructor({ limit, windowMs, maxClients, clock = () => performance.now() }: LimiterOptions) {
    this.policy = { limit, windowMs };
    this.#searches = new SlidingWindow(this.policy, maxClients, clock);
    this.#companyPages = new SlidingWindow(COMPANY_PAGES, maxClients, clock);
    this.#maxClients = maxClients;
  }

  consume(client: Place): Decision {
    return this.#searches.consume(client);
  }

  consumeCompanyPage(client: Place): Decision {
    return this.#companyPages.consume(client);
  }

  /** Decides without counting a search, but still adds the client and marks it as seen. */
  peek(client: Place): Decision {
    return this.#searches.peek(client);
  }

  reset(): void {
    this.#searches.clients.clear();
    this.#companyPages.clients.clear();
  }

  [Symbol.dispose](): void {}

  status(): LimiterStatus {
    const { size: clients } = this.#searches.clients;
    return { store: "memory", up: true, clients, maxClients: this.#maxClients };
  }
}

class SlidingWindow {
  readonly clients: ClientTable;
  readonly #policy: LimitPolicy;
  readonly #clock: () => number;
  /** Stands still while the clock is behind, so setting the clock back frees nothing. */
  #now = Number.NEGATIVE_INFINITY;

  constructor(policy: LimitPolicy, maxClients: number, clock: () => number) {
    this.clients = new ClientTable(maxClients);
    this.#policy = policy;
    this.#clock = clock;
  }

  consume(client: Place): Decision {
    const times = this.#recentTimesOf(client);
    const allowed = times.length < this.#policy.limit;
    if (allowed) times.push(this.#now);
    return { ...this.#decisionFrom(times), allowed };
  }

  peek(client: Place): Decision {
    return this.#decisionFrom(this.#recentTimesOf(client));
  }

  /** Returns a client's times in the window, oldest first, and marks the client as just seen. */
  #recentTimesOf(client: Place): number[] {
    this.#now = Math.max(this.#now, Math.floor(this.#clock()));
    this.clients.dropExpired(this.#isExpired);

    const times = this.clients.see(client);
    const kept = times.findIndex((time) => !this.#isExpired(time));
    if (kept !== 0) times.splice(0, kept < 0 ? times.length : kept);
    return times;
  }

  readonly #isExpired = (time: number): boolean => this.#now - time >= this.#policy.windowMs;

  #decisionFrom(times: readonly number[]): Decision {
    const [oldest = this.#now] = times;
    const remaining = this.#policy.limit - times.length;
    const resetMs = oldest + this.#policy.windowMs - this.#now;
    return { allowed: remaining > 0, remaining, resetMs };
  }
}
