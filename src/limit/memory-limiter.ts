/**
 * The search limit for a single process: a sliding window per client, kept in memory and exact to
 * the millisecond. `shared-limiter.ts` shares the limit between processes. README.md has the rules for both.
 */
import { LRUCache } from "lru-cache";
import type { Decision, Limiter, LimiterOptions, LimiterStatus, LimitPolicy } from "./decision.ts";

/** How many expired clients a decision drops: more than the one client that it may add. */
const MAX_DROPPED = 2;

export class MemoryLimiter implements Limiter {
  readonly policy: LimitPolicy;
  readonly #maxClients: number;
  readonly #clock: () => number;
  /** The times of each client's allowed requests, oldest first. */
  readonly #clients: LRUCache<string, number[]>;
  /** Stands still while the clock is behind, so setting the clock back frees nothing. */
  #now = Number.NEGATIVE_INFINITY;

  constructor({ limit, windowMs, maxClients, clock = () => performance.now() }: LimiterOptions) {
    this.policy = { limit, windowMs };
    this.#maxClients = maxClients;
    this.#clock = clock;
    // With `max` instead of `maxSize`, the cache would preallocate memory.
    this.#clients = new LRUCache({ maxSize: maxClients, sizeCalculation: () => 1 });
  }

  consume(client: string): Decision {
    const times = this.#recentTimesOf(client);
    const allowed = times.length < this.policy.limit;
    if (allowed) times.push(this.#now);
    return { ...this.#decisionFrom(times), allowed };
  }

  /** Decides without counting a request, but still adds the client and marks it as seen. */
  peek(client: string): Decision {
    return this.#decisionFrom(this.#recentTimesOf(client));
  }

  reset(): void {
    this.#clients.clear();
  }

  [Symbol.dispose](): void {}

  status(): LimiterStatus {
    return { store: "memory", up: true, clients: this.#clients.size };
  }

  /** Returns a client's times in the window, oldest first, and marks the client as just seen. */
  #recentTimesOf(client: string): number[] {
    this.#now = Math.max(this.#now, Math.floor(this.#clock()));
    this.#dropExpired();

    let times = this.#clients.get(client);
    if (times === undefined) {
      times = this.#inherit();
      this.#clients.set(client, times);
    }

    const kept = times.findIndex((time) => !this.#isExpired(time));
    if (kept !== 0) times.splice(0, kept < 0 ? times.length : kept);
    return times;
  }

  #dropExpired(): void {
    for (let i = 0; i < MAX_DROPPED; i++) {
      const [leastRecent] = this.#clients.rvalues();
      // A client that was only peeked at has no times, and is dropped as well.
      if (!leastRecent?.slice(-1).every((time) => this.#isExpired(time))) return;
      this.#clients.pop();
    }
  }

  /** Returns the times of a new client: at the maximum, those of the least recently seen one. */
  #inherit(): number[] {
    const inherited = this.#clients.size === this.#maxClients ? this.#clients.pop() : undefined;
    // JavaScriptCore would allocate `[]` as large as earlier arrays: 200 bytes for one timestamp.
    return inherited ?? Array.of<number>();
  }

  #isExpired(time: number): boolean {
    return this.#now - time >= this.policy.windowMs;
  }

  #decisionFrom(times: readonly number[]): Decision {
    const [oldest = this.#now] = times;
    const remaining = this.policy.limit - times.length;
    const resetMs = oldest + this.policy.windowMs - this.#now;
    return { allowed: remaining > 0, remaining, resetMs };
  }
}
