/**
 * Owns who has used how much of the limit: a true sliding window, exact to the millisecond. Pure:
 * reads no clock (it is passed in), does no I/O, and holds a bounded number of clients.
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

export interface WindowOptions {
  /** At most this many requests a client in any `windowMs`: 1 to 2^27. */
  limit: number;
  /** Whole milliseconds, 1 to 2^31 − 1 (24 days). */
  windowMs: number;
  /** At most this many clients are held: 1 to 2^24. */
  maxClients: number;
}

export interface Window {
  /** Decides one request at `nowMs`, and counts it if it is allowed. O(log limit), never throws. */
  consume(client: string, nowMs: number): Decision;
  /** Clients held: those seen in the last `windowMs`, and a few not yet swept. */
  readonly size: number;
}

/**
 * One Map of 100,000 strings stops for 14 ms to rehash itself, again and again while addresses
 * rotate; a Map of 800 takes less than 1 ms.
 */
const SHARDS = 128;

/** Expired clients dropped a decision: more than the one that it may add, so that they run out. */
const SWEPT = 2;

/**
 * **Exact.** At most `limit` requests of a client are allowed in any half-open span of `windowMs`,
 * none is refused while there is room, a refused one is not counted. A fraction of a millisecond
 * is dropped. Time stands still while the clock is behind its highest value, so a clock that goes
 * back frees nothing.
 *
 * **Bounded.** Past `maxClients`, a newcomer takes over the place *and the count* of the client
 * longest unseen. A timestamp leaves its place only when it has left the window, so all clients
 * together never get more than `limit × maxClients` in any window, and rotating addresses gains
 * nothing.
 * - A refused request is seen, too: a client over its limit that keeps knocking keeps its place.
 * - A newcomer to a used-up place is refused and keeps the place, so `resetMs` holds for it, and
 *   the next newcomer finds another place.
 * - The client that lost its place comes back as a newcomer, to another's count. What a single
 *   client gets is then more or less than `limit`; the bound on all together stays exact.
 *
 * @throws RangeError for options outside their bounds.
 */
export function createWindow({ limit, windowMs, maxClients }: WindowOptions): Window {
  assertWhole("limit", limit, 2 ** 27);
  assertWhole("windowMs", windowMs, 2 ** 31 - 1);
  assertWhole("maxClients", maxClients, 2 ** 24);

  const shards = Array.from({ length: SHARDS }, () => new Map<string, Place>());
  /** Joins the two ends of the list: next to it are the longest unseen and the last seen. */
  const ends = new Place("");
  let now = Number.MIN_SAFE_INTEGER;
  let size = 0;

  function consume(client: string, nowMs: number): Decision {
    if (nowMs > now && nowMs <= Number.MAX_SAFE_INTEGER) now = Math.floor(nowMs);
    sweep();
    const place = shardOf(client).get(client) ?? admit(client);
    unlink(place);
    insertBefore(ends, place);

    let used = place.count - countExpired(place);
    const allowed = used < limit;
    if (allowed) {
      push(place);
      used++;
    }
    const oldest = timestampAt(place, place.count - used);
    return { allowed, limit, remaining: limit - used, resetMs: oldest + windowMs - now };
  }

  /** A new place, or that of the client longest unseen with what it has used. */
  function admit(client: string): Place {
    let place = ends.newer;
    if (size < maxClients) {
      place = new Place(client);
      size++;
    } else {
      shardOf(place.client).delete(place.client);
      place.client = client;
    }
    shardOf(client).set(client, place);
    return place;
  }

  /** Drops a few clients whose every timestamp has left the window. */
  function sweep(): void {
    for (let i = 0; i < SWEPT; i++) {
      const place = ends.newer;
      if (place === ends || countExpired(place) < place.count) return;
      unlink(place);
      shardOf(place.client).delete(place.client);
      size--;
    }
  }

  /** By bisection: the timestamps are in order, and a large limit makes many. */
  function countExpired(place: Place): number {
    let expired = 0;
    let end = place.count;
    while (expired < end) {
      const middle = (expired + end) >>> 1;
      if (now - timestampAt(place, middle) >= windowMs) expired = middle + 1;
      else end = middle;
    }
    return expired;
  }

  /** Grows the ring only up to the limit: past that, the oldest has left the window. */
  function push(place: Place): void {
    const { timestamps, count, start } = place;
    if (count === limit) {
      timestamps[start] = now;
      place.start = (start + 1) % limit;
      return;
    }
    if (count === timestamps.length) {
      place.timestamps = new Float64Array(Math.min(2 * count, limit));
      place.timestamps.set(timestamps);
    }
    place.timestamps[count] = now;
    place.count++;
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
    get size() {
      return size;
    },
  };
}

/** One of `maxClients`, with its neighbours in the order in which their clients were last seen. */
class Place {
  client: string;
  /** When its last requests were allowed, `count` of them: a ring, the oldest at `start`. */
  timestamps = new Float64Array(1);
  start = 0;
  count = 0;
  older: Place = this;
  newer: Place = this;

  constructor(client: string) {
    this.client = client;
  }
}

function timestampAt({ timestamps, start, count }: Place, index: number): number {
  const at = start + index;
  return timestamps[at < count ? at : at - count] as number;
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

function assertWhole(name: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new RangeError(`${name} must be a whole number from 1 to ${max}, not ${value}`);
  }
}
