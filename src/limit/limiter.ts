/**
 * The search limit for a single process: a sliding window per client, kept in memory and exact to
 * the millisecond. `redis.ts` shares the limit between processes. README.md has the rules for both.
 */
import { LRUCache } from "lru-cache";

export interface Decision {
  allowed: boolean;
  limit: number;
  /** How many more requests are allowed right now. */
  remaining: number;
  /**
   * Whole milliseconds until the oldest counted request leaves the window and one more request is
   * allowed. A refused client is allowed after waiting this long, but not a millisecond earlier.
   */
  resetMs: number;
}

export interface Limiter {
  /**
   * Decides whether to allow a request from `client`, and counts the request if it is allowed.
   * Never throws or rejects.
   */
  consume(client: string): Decision | Promise<Decision>;
  status(): LimiterStatus;
  /** Forgets all requests. For tests only. A shared limiter does not have this method. */
  reset?(): void;
  /** Closes connections and stops timers. Any later decisions are made in memory. */
  close(): void;
}

export interface LimiterStatus {
  store: "memory" | "redis";
  /** False while the shared store is unavailable and decisions are made in memory. */
  up: boolean;
  /** The number of clients tracked in memory, including a few whose requests have expired. */
  clients: number;
}

export interface LimiterOptions {
  /** How many requests a client may make in any `windowMs`; at least 1. */
  limit: number;
  windowMs: number;
  /** Beyond this number, a new client takes the place of another. Defaults to 100,000. */
  maxClients?: number | undefined;
  /** Returns the time in milliseconds. Defaults to a monotonic clock. */
  clock?: (() => number) | undefined;
}

/** How many expired clients a decision drops: more than the one client that it may add. */
const MAX_DROPPED = 2;

export type MemoryLimiter = ReturnType<typeof createLimiter>;

export function createLimiter({
  limit,
  windowMs,
  maxClients = 100_000,
  clock = () => performance.now(),
}: LimiterOptions) {
  /**
   * The times of each client's allowed requests, oldest first. The cache has a `maxSize` instead of
   * a `max`, because `max` would preallocate memory.
   */
  const clients = new LRUCache<string, number[]>({ maxSize: maxClients, sizeCalculation: () => 1 });
  /** Stands still while the clock is behind, so setting the clock back frees nothing. */
  let now = Number.NEGATIVE_INFINITY;

  const isExpired = (time: number) => now - time >= windowMs;

  /** Returns a client's times in the window, oldest first, and marks the client as just seen. */
  function recentTimesOf(client: string): number[] {
    now = Math.max(now, Math.floor(clock()));
    for (let i = 0; i < MAX_DROPPED; i++) {
      const [leastRecent] = clients.rvalues();
      // A client that was only peeked at has no times, and is dropped as well.
      if (!leastRecent?.slice(-1).every(isExpired)) break;
      clients.pop();
    }
    const times = clients.get(client) ?? admit(client);
    const kept = times.findIndex((time) => !isExpired(time));
    if (kept !== 0) times.splice(0, kept < 0 ? times.length : kept);
    return times;
  }

  /** Adds a client. At the maximum, it inherits the times of the least recently seen client. */
  function admit(client: string): number[] {
    const inherited = clients.size === maxClients ? clients.pop() : undefined;
    // JavaScriptCore would allocate `[]` as large as earlier arrays that were created here: 200
    // bytes for a single timestamp.
    const times = inherited ?? Array.of<number>();
    clients.set(client, times);
    return times;
  }

  function decisionFrom(times: readonly number[]): Decision {
    const [oldest = now] = times;
    const remaining = limit - times.length;
    return { allowed: remaining > 0, limit, remaining, resetMs: oldest + windowMs - now };
  }

  return {
    consume(client: string): Decision {
      const times = recentTimesOf(client);
      const allowed = times.length < limit;
      if (allowed) times.push(now);
      return { ...decisionFrom(times), allowed };
    },
    /** Decides without counting a request, but still adds the client and marks it as seen. */
    peek: (client: string): Decision => decisionFrom(recentTimesOf(client)),
    reset: () => clients.clear(),
    status: (): LimiterStatus => ({ store: "memory", up: true, clients: clients.size }),
    close() {},
  };
}
