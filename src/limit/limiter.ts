/**
 * The search limit: a sliding window per client, kept in memory and exact to the millisecond.
 * shared-limiter.ts shares the limit between processes. README.md has the rules for both.
 */
import { createClientTable, type LimitedClient } from "./client-table.ts";

export interface Decision {
  allowed: boolean;
  /** How many more requests are allowed right now. */
  remaining: number;
  /** Whole milliseconds until the oldest counted request leaves the window: exactly long enough. */
  resetMs: number;
}

/** How often a client may search. */
export interface LimitPolicy {
  /** How many requests a client may make in any `windowMs`; at least 1. */
  limit: number;
  windowMs: number;
}

/** Disposing of it disconnects from the store, if there is one. */
export interface Limiter extends Disposable {
  readonly policy: LimitPolicy;
  /** Counts a request if it is allowed. Never throws or rejects. */
  consume(client: LimitedClient): Decision | Promise<Decision>;
  /** The same for a page of a company, of which each process counts its own. */
  consumeCompanyPage(client: LimitedClient): Decision;
  status(): LimiterStatus;
  /** Forgets all requests. Throws if they are in a shared store. */
  reset(): void;
}

export interface LimiterStatus {
  store: "memory" | "redis";
  /** False while the shared store is unavailable and decisions are made in memory. */
  up: boolean;
  /** The number of clients tracked in memory, including a few whose requests have expired. */
  clients: number;
  maxClients: number;
}

export interface LimiterOptions extends LimitPolicy {
  /** How many clients have a place in memory. */
  maxClients: number;
  /** Returns the time in milliseconds. Defaults to a monotonic clock. */
  clock?: (() => number) | undefined;
}

/** How many pages of companies a client may open. */
const COMPANY_PAGES: LimitPolicy = { limit: 300, windowMs: 3_600_000 };

export type MemoryLimiter = ReturnType<typeof createMemoryLimiter>;

export function createMemoryLimiter({
  limit,
  windowMs,
  maxClients,
  clock = () => performance.now(),
}: LimiterOptions) {
  const policy: LimitPolicy = { limit, windowMs };
  const searches = createWindow(policy, maxClients, clock);
  const companyPages = createWindow(COMPANY_PAGES, maxClients, clock);
  return {
    policy,
    consume: searches.consume,
    consumeCompanyPage: companyPages.consume,
    /** Decides without counting a search, but still adds the client and marks it as seen. */
    peek: searches.peek,
    reset(): void {
      searches.clients.clear();
      companyPages.clients.clear();
    },
    status(): LimiterStatus {
      return { store: "memory", up: true, clients: searches.clients.size(), maxClients };
    },
    [Symbol.dispose](): void {},
  };
}

function createWindow({ limit, windowMs }: LimitPolicy, maxClients: number, clock: () => number) {
  const clients = createClientTable(maxClients);
  /** Stands still while the clock is behind, so setting the clock back frees nothing. */
  let now = Number.NEGATIVE_INFINITY;
  const isExpired = (time: number) => now - time >= windowMs;

  /** Returns a client's times in the window, oldest first, and marks the client as just seen. */
  function recentTimesOf(client: LimitedClient): number[] {
    now = Math.max(now, Math.floor(clock()));
    clients.dropExpired(isExpired);

    const times = clients.see(client);
    const kept = times.findIndex((time) => !isExpired(time));
    if (kept !== 0) times.splice(0, kept < 0 ? times.length : kept);
    return times;
  }

  function decisionFrom(times: readonly number[]): Decision {
    const [oldest = now] = times;
    const remaining = limit - times.length;
    return { allowed: remaining > 0, remaining, resetMs: oldest + windowMs - now };
  }

  return {
    clients,
    peek: (client: LimitedClient): Decision => decisionFrom(recentTimesOf(client)),
    consume(client: LimitedClient): Decision {
      const times = recentTimesOf(client);
      const allowed = times.length < limit;
      if (allowed) times.push(now);
      return { ...decisionFrom(times), allowed };
    },
  };
}
