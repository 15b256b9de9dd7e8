/**
 * Owns who has used how much of the limit: a true sliding window, exact to the millisecond, in this
 * process's memory. `redis.ts` has the same for several processes, and what only Bun has.
 */
import { LRUCache } from "lru-cache";

export interface Decision {
  allowed: boolean;
  limit: number;
  /** How many more are allowed right now. */
  remaining: number;
  /**
   * Whole milliseconds from now until the oldest counted request leaves the window, and one more
   * is free. A refused client that waits this long is allowed; a millisecond less is not enough.
   */
  resetMs: number;
}

export interface Limiter {
  /** Decides one request of `client` and counts it if allowed. Never throws, never rejects. */
  consume(client: string): Decision | Promise<Decision>;
  status(): LimiterStatus;
  /** Forgets all requests, for tests. A limiter that others share has none. */
  reset?(): void;
  /** Lets go of connections and timers. Decisions go on, in memory. */
  close(): void;
}

export interface LimiterStatus {
  store: "memory" | "redis";
  /** False while a shared store is out of reach and memory decides. */
  up: boolean;
  /** Clients held in this process's memory: those of the last window, and a few not yet dropped. */
  clients: number;
}

export interface LimiterOptions {
  /** At most this many requests a client in any `windowMs`; at least 1. */
  limit: number;
  /** Whole milliseconds. */
  windowMs: number;
  /** At most this many clients are held. Default 100,000. */
  maxClients?: number | undefined;
  /** Milliseconds. Default a clock that nobody sets. */
  clock?: (() => number) | undefined;
}

/** Expired clients dropped per decision: more than the one it may add, so that they run out. */
const DROPPED = 2;

export type MemoryLimiter = ReturnType<typeof createLimiter>;

/**
 * **Exact.** At most `limit` requests of a client are allowed in any half-open span of `windowMs`,
 * none is refused while there is room, a refused one is not counted. A fraction of a millisecond
 * is dropped. Time stands still while the clock is behind its highest value, so a clock that goes
 * back frees nothing.
 *
 * **Bounded.** Past `maxClients`, a newcomer takes over the place *and the count* of the client
 * least recently seen, so all clients together never get more than `limit × maxClients` in any window,
 * and rotating addresses gains nothing. A refused request is seen, too: a client that keeps trying keeps
 * its place, and `resetMs` holds for it. A client that has lost its place returns as a newcomer and
 * inherits another's count: a single client may then get more or less than `limit`.
 */
export function createLimiter({
  limit,
  windowMs,
  maxClients = 100_000,
  clock = () => performance.now(),
}: LimiterOptions) {
  /** When each client's requests were allowed, oldest first. `max` would allocate all at once. */
  const clients = new LRUCache<string, number[]>({
    maxSize: maxClients,
    sizeCalculation: () => 1,
  });
  let now = Number.MIN_SAFE_INTEGER;

  function consume(client: string): Decision {
    const allowedAt = see(client);
    const allowed = allowedAt.length < limit;
    if (allowed) allowedAt.push(now);
    return { ...decisionOf(allowedAt), allowed };
  }

  function decisionOf(allowedAt: readonly number[]): Decision {
    const [oldest = now] = allowedAt;
    const remaining = limit - allowedAt.length;
    return { allowed: remaining > 0, limit, remaining, resetMs: oldest + windowMs - now };
  }

  /** The requests of `client` in the window. Marks the client as seen, also if it is refused. */
  function see(client: string): number[] {
    const nowMs = clock();
    if (nowMs > now && nowMs <= Number.MAX_SAFE_INTEGER) now = Math.floor(nowMs);
    for (let i = 0; i < DROPPED; i++) {
      const [leastRecent] = clients.rvalues();
      if (leastRecent === undefined) break;
      // A client without requests was only seen, so there is nothing to keep.
      if (leastRecent.length > 0 && !isExpired(leastRecent.at(-1))) break;
      clients.pop();
    }
    const allowedAt = clients.get(client) ?? admit(client);
    let expired = 0;
    while (isExpired(allowedAt[expired])) expired++;
    if (expired > 0) allowedAt.splice(0, expired);
    return allowedAt;
  }

  function isExpired(time: number | undefined): boolean {
    return time !== undefined && now - time >= windowMs;
  }

  /** A newcomer starts with the requests of the client whose place it takes. */
  function admit(client: string): number[] {
    const inherited = clients.size === maxClients ? clients.pop() : undefined;
    // Not `[]`: JSC gives it the room of earlier arrays made here, 200 bytes for one request.
    const allowedAt = inherited ?? Array.of<number>();
    clients.set(client, allowedAt);
    return allowedAt;
  }

  return {
    consume,
    /** Whether a request of `client` would be allowed. Admits and sees the client, counts nothing. */
    peek: (client: string): Decision => decisionOf(see(client)),
    reset: () => clients.clear(),
    status: (): LimiterStatus => ({ store: "memory", up: true, clients: clients.size }),
    close() {},
  };
}
