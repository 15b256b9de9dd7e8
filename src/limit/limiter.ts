/**
 * Owns who has used how much of the limit: a true sliding window, exact to the millisecond, in this
 * process's memory. `redis.ts` has the same for several processes, and what only Bun has.
 */

export interface Decision {
  allowed: boolean;
  limit: number;
  /** How many more are allowed right now. */
  remaining: number;
  /**
   * Whole milliseconds from now until the oldest counted request leaves the window, and one more
   * is free. Whoever is refused and waits this long is let in; a millisecond less is not enough.
   */
  resetMs: number;
}

export interface Limiter {
  /** Decides one request of `client` and counts it if allowed. Never throws, never rejects. */
  consume(client: string): Decision | Promise<Decision>;
  status(): LimiterStatus;
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

/** Maps for one purpose, as one of 100,000 strings stops for 14 ms to rehash while addresses rotate. */
const SHARDS = 128;

/** Expired clients dropped a decision: more than the one that it may add, so that they run out. */
const DROPPED = 2;

export type MemoryLimiter = ReturnType<typeof createLimiter>;

/**
 * **Exact.** At most `limit` requests of a client are allowed in any half-open span of `windowMs`,
 * none is refused while there is room, a refused one is not counted. A fraction of a millisecond
 * is dropped. Time stands still while the clock is behind its highest value, so a clock that goes
 * back frees nothing.
 *
 * **Bounded.** Past `maxClients`, a newcomer takes over the place *and the count* of the client
 * longest unseen, so all clients together never get more than `limit × maxClients` in any window, and
 * rotating addresses gains nothing. A refused request is seen, too: a client that keeps knocking keeps
 * its place, and `resetMs` holds for it. Who has lost its place comes back as a newcomer, to another's
 * count: then a single client gets more or less than `limit`.
 */
export function createLimiter({
  limit,
  windowMs,
  maxClients = 100_000,
  clock = () => performance.now(),
}: LimiterOptions) {
  const shards = Array.from({ length: SHARDS }, () => new Map<string, Place>());
  /** Joins the two ends of the list: next to it are the longest unseen and the last seen. */
  const ends = new Place("");
  let now = Number.MIN_SAFE_INTEGER;
  let size = 0;

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

  /** The requests of `client` in the window. Whatever comes of this one, the client has been seen. */
  function see(client: string): number[] {
    const nowMs = clock();
    if (nowMs > now && nowMs <= Number.MAX_SAFE_INTEGER) now = Math.floor(nowMs);
    for (let i = 0; i < DROPPED && ends.newer !== ends; i++) {
      // A client that was only seen has nothing to inherit.
      if (!isExpired(ends.newer.allowedAt.at(-1) ?? Number.NEGATIVE_INFINITY)) break;
      drop(ends.newer);
    }
    const place = shardOf(client).get(client) ?? admit(client);
    unlink(place);
    insertBefore(ends, place);

    const { allowedAt } = place;
    let expired = 0;
    while (isExpired(allowedAt[expired])) expired++;
    if (expired > 0) allowedAt.splice(0, expired);
    return allowedAt;
  }

  function isExpired(time: number | undefined): boolean {
    return time !== undefined && now - time >= windowMs;
  }

  function admit(client: string): Place {
    const place = new Place(client);
    if (size === maxClients) {
      place.allowedAt = ends.newer.allowedAt;
      drop(ends.newer);
    }
    shardOf(client).set(client, place);
    size++;
    return place;
  }

  function drop(place: Place): void {
    unlink(place);
    shardOf(place.client).delete(place.client);
    size--;
  }

  /** By FNV-1a. Whoever aims at one Map gains a pause, and no more. */
  function shardOf(client: string): Map<string, Place> {
    let hash = 0x811c9dc5;
    for (let i = 0; i < client.length; i++) {
      hash = Math.imul(hash ^ client.charCodeAt(i), 0x01000193);
    }
    return shards[hash & (SHARDS - 1)] as Map<string, Place>;
  }

  return {
    consume,
    /** Whether a request of `client` would be allowed. Admits and sees the client, counts nothing. */
    peek: (client: string): Decision => decisionOf(see(client)),
    status: (): LimiterStatus => ({ store: "memory", up: true, clients: size }),
    close() {},
  };
}

/** One of `maxClients`, with its neighbours in the order in which their clients were last seen. */
class Place {
  client: string;
  /**
   * When its last requests were allowed, oldest first. Not `[]`: that gets as much room as those made
   * there before came to need, 200 bytes for a single request.
   */
  allowedAt = Array.of<number>();
  older: Place = this;
  newer: Place = this;

  constructor(client: string) {
    this.client = client;
  }
}

function unlink({ older, newer }: Place): void {
  older.newer = newer;
  newer.older = older;
}

function insertBefore(newer: Place, place: Place): void {
  place.older = newer.older;
  place.newer = newer;
  place.older.newer = place;
  newer.older = place;
}
