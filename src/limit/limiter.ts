/**
 * The search limit of one process: a sliding window per client, exact to the millisecond, in
 * memory. `redis.ts` shares the limit between processes; see README.md for the rules of both.
 */
import { LRUCache } from "lru-cache";

export interface Decision {
  allowed: boolean;
  limit: number;
  /** How many more requests are allowed right now. */
  remaining: number;
  /**
   * Whole milliseconds until the oldest counted request leaves the window and one more is allowed.
   * A refused client that waits this long is allowed. A millisecond less is not enough.
   */
  resetMs: number;
}

export interface Limiter {
  /** Decides a request of `client` and counts it if it is allowed. Never throws or rejects. */
  consume(client: string): Decision | Promise<Decision>;
  status(): LimiterStatus;
  /** Forgets all requests, for tests. A shared limiter has no such method. */
  reset?(): void;
  /** Closes connections and stops timers. Later decisions are made in memory. */
  close(): void;
}

export interface LimiterStatus {
  store: "memory" | "redis";
  /** False while the shared store is unavailable and decisions are made in memory. */
  up: boolean;
  /** Clients tracked in memory: those of the last window, and a few expired ones. */
  clients: number;
}

export interface LimiterOptions {
  /** The most requests per client in any `windowMs`; at least 1. */
  limit: number;
  /** Whole milliseconds. */
  windowMs: number;
  /** The most clients to track. Default 100,000. */
  maxClients?: number | undefined;
  /** Milliseconds. Default a monotonic clock. */
  clock?: (() => number) | undefined;
}

/** Expired clients dropped per decision: more than it may add, so they all go eventually. */
const MAX_DROPPED = 2;

export type MemoryLimiter = ReturnType<typeof createLimiter>;

/**
 * **Exact.** At most `limit` requests of a client are allowed in any half-open span of `windowMs`,
 * and none is refused while there is room. A refused request is not counted. Fractions of a
 * millisecond are dropped. While the clock is behind its highest value, time stands still, so
 * setting a clock back frees nothing.
 *
 * **Bounded.** Beyond `maxClients`, a new client takes over the place *and the count* of the least
 * recently seen one. All clients together therefore never get more than `limit × maxClients` in any
 * window, and rotating addresses gains nothing. A refused request counts as seeing the client, so a
 * client that keeps trying keeps its place, and its `resetMs` stays true. A client that lost its
 * place inherits another count when it returns, so a single client may get more or less than
 * `limit`.
 */
export function createLimiter({
  limit,
  windowMs,
  maxClients = 100_000,
  clock = () => performance.now(),
}: LimiterOptions) {
  /** The times of each client's allowed requests, oldest first. `max` would preallocate memory. */
  const clients = new LRUCache<string, number[]>({
    maxSize: maxClients,
    sizeCalculation: () => 1,
  });
  let now = Number.MIN_SAFE_INTEGER;

  function consume(client: string): Decision {
    const times = recentTimesOf(client);
    const allowed = times.length < limit;
    if (allowed) times.push(now);
    return { ...decisionFrom(times), allowed };
  }

  function decisionFrom(times: readonly number[]): Decision {
    const [oldest = now] = times;
    const remaining = limit - times.length;
    return { allowed: remaining > 0, limit, remaining, resetMs: oldest + windowMs - now };
  }

  /** The times in the window. Makes `client` the most recently seen one. */
  function recentTimesOf(client: string): number[] {
    const nowMs = clock();
    if (nowMs > now && nowMs <= Number.MAX_SAFE_INTEGER) now = Math.floor(nowMs);
    dropExpiredClients();
    const times = clients.get(client) ?? admit(client);
    let expired = 0;
    while (isExpired(times[expired])) expired++;
    if (expired > 0) times.splice(0, expired);
    return times;
  }

  function dropExpiredClients(): void {
    for (let i = 0; i < MAX_DROPPED; i++) {
      const [leastRecent] = clients.rvalues();
      if (leastRecent === undefined) return;
      // A client may have no times: it was only peeked at.
      if (leastRecent.length > 0 && !isExpired(leastRecent.at(-1))) return;
      clients.pop();
    }
  }

  function isExpired(time: number | undefined): boolean {
    return time !== undefined && now - time >= windowMs;
  }

  /** A new client starts with the times of the client whose place it takes. */
  function admit(client: string): number[] {
    const inherited = clients.size === maxClients ? clients.pop() : undefined;
    // Not `[]`: JavaScriptCore would size it like earlier arrays from here, 200 bytes for one time.
    const times = inherited ?? Array.of<number>();
    clients.set(client, times);
    return times;
  }

  return {
    consume,
    /** Decides without counting a request. The client is still admitted and marked as seen. */
    peek: (client: string): Decision => decisionFrom(recentTimesOf(client)),
    reset: () => clients.clear(),
    status: (): LimiterStatus => ({ store: "memory", up: true, clients: clients.size }),
    close() {},
  };
}
