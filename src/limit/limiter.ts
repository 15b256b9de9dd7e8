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
  /** Whole milliseconds until the oldest counted request leaves the window: exactly long enough. */
  resetMs: number;
}

export interface Limiter {
  /** Counts a request if it is allowed. Never throws or rejects. */
  consume(client: string): Decision | Promise<Decision>;
  status(): LimiterStatus;
  /** Forgets all requests. For tests only. A shared limiter does not have this method. */
  reset?(): void;
  /** Disconnects from the store. Only a shared limiter has this method. */
  close?(): void;
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
  /** Beyond this number, a new client takes the place of another. */
  maxClients: number;
  /** Returns the time in milliseconds. Defaults to a monotonic clock. */
  clock?: (() => number) | undefined;
}

/** How many expired clients a decision drops: more than the one client that it may add. */
const MAX_DROPPED = 2;

export function createLimiter(options: LimiterOptions) {
  const { limit, windowMs, maxClients, clock = () => performance.now() } = options;
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
    let times = clients.get(client);
    if (times === undefined) {
      // At the maximum, a new client inherits the times of the least recently seen one. JavaScriptCore
      // would allocate `[]` as large as earlier arrays: 200 bytes for a single timestamp.
      times = (clients.size === maxClients && clients.pop()) || Array.of<number>();
      clients.set(client, times);
    }
    const kept = times.findIndex((time) => !isExpired(time));
    if (kept !== 0) times.splice(0, kept < 0 ? times.length : kept);
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
  };
}
