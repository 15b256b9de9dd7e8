/**
 * Owns who has used how much of the limit: a true sliding window, exact to the millisecond. Pure:
 * reads no clock (it is passed in), does no I/O, and holds a fixed number of clients.
 */
import { createFingerprint } from "./fingerprint.ts";
import { createTimes } from "./times.ts";

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
  take(client: string, nowMs: number): Decision;
  /** Clients held: those with a request in the window, and expired ones not yet swept. */
  readonly size: number;
}

/** Expired clients freed a decision: more than the one that it may add, so the rest dwindles. */
const SWEPT = 4;

/**
 * **Exact.** At most `limit` requests of a client are allowed in any half-open span of `windowMs`,
 * none is refused while there is room, a refused one is not counted. A fraction of a millisecond
 * is dropped. Time stands still while the clock is behind its highest value, so a clock that goes
 * back frees nothing.
 *
 * **Bounded.** A client costs 45 bytes: a fingerprint of its key (8), its place in a bucket (4), in
 * a list (8), the time of its newest request (8), its ring of older times (13) and a share of the
 * buckets (4–8). Each 15 requests beyond the first in its window add a chunk of 64: at a limit of
 * 30, never more than 173. Flat arrays reserved at the start and touched as they fill: no object a
 * client, nothing for the garbage collector to walk, no rehash, no growth by copying.
 *
 * **Past `maxClients`**, when all places hold clients with requests in the window, a newcomer takes
 * over the place of the client that has used least (to a power of two), of those the longest
 * silent, *with what has been used of it*. So
 * - memory stays as it is, and nothing that was counted is forgotten: all clients together never
 *   get more than `limit × maxClients` in any window, however many addresses take turns;
 * - a client over its limit keeps its place, and stays refused: it has nothing left to take over;
 * - a newcomer is refused only when nobody else has anything left either. It starts with a request
 *   or more on its count, so a flood shrinks what newcomers get, and locks none of them out before
 *   it has spent nearly all of `limit × maxClients`.
 * The client that lost its place had least to lose, and comes back as a newcomer: it may then get
 * as many more than `limit` as it had used, less what was used of its new place.
 *
 * @throws RangeError for options outside their bounds.
 */
export function createWindow({ limit, windowMs, maxClients }: WindowOptions): Window {
  assertWhole("limit", limit, 2 ** 27);
  assertWhole("windowMs", windowMs, 2 ** 31 - 1);
  assertWhole("maxClients", maxClients, 2 ** 24);

  const slots = maxClients + 1; // Slot 0 stands for none.
  const fingerprint = createFingerprint();
  const wanted = new Int32Array(2);
  const low = new Int32Array(slots);
  const high = new Int32Array(slots);

  /** Slots by fingerprint: the first of each bucket, then the next of the same bucket. */
  const buckets = new Int32Array(2 ** Math.ceil(Math.log2(maxClients)));
  const bucketNext = new Int32Array(slots);

  /**
   * Lists of slots, longest silent first: one for each power of two of requests used, the last for
   * those at the limit. Their heads are who expires next, and who gives way past the cap.
   */
  const full = 32 - Math.clz32(limit - 1);
  const first = new Int32Array(full + 1);
  const last = new Int32Array(full + 1);
  const newer = new Int32Array(slots);
  const older = new Int32Array(slots);

  /** In full, where older times are kept modulo 2^32: those are younger than 2 × windowMs. */
  const newest = new Float64Array(slots);
  const times = createTimes(slots);

  let now = Number.MIN_SAFE_INTEGER;
  let size = 0;
  let made = 0;
  let spare = 0;
  /** No client expires before this. */
  let nextExpiry = Number.POSITIVE_INFINITY;

  function take(client: string, nowMs: number): Decision {
    if (nowMs > now && nowMs <= Number.MAX_SAFE_INTEGER) now = Math.floor(nowMs);
    if (now >= nextExpiry) sweep();

    fingerprint(client, wanted);
    let slot = find();
    if (slot === 0) {
      slot = admit();
      if (slot === 0) return refusal(first[full] as number);
    } else if (!leave(slot)) {
      return refusal(slot);
    }

    const used = usedOf(slot) + 1;
    if (used > 1) times.push(slot, newest[slot] as number);
    newest[slot] = now;
    append(slot, levelOf(used));
    nextExpiry = Math.min(nextExpiry, now + windowMs);
    return { allowed: true, limit, remaining: limit - used, resetMs: resetMsOf(slot) };
  }

  function refusal(slot: number): Decision {
    return { allowed: false, limit, remaining: 0, resetMs: resetMsOf(slot) };
  }

  function usedOf(slot: number): number {
    return now - (newest[slot] as number) < windowMs ? times.count(slot) + 1 : 0;
  }

  function resetMsOf(slot: number): number {
    const age = times.count(slot) > 0 ? ageOfOldest(slot) : now - (newest[slot] as number);
    return windowMs - age;
  }

  function ageOfOldest(slot: number): number {
    return (now - times.oldest(slot)) >>> 0;
  }

  function levelOf(used: number): number {
    return used >= limit ? full : 31 - Math.clz32(used);
  }

  /** Drops what has left the window. If that makes room, takes the slot off its list. */
  function leave(slot: number): boolean {
    const level = levelOf(times.count(slot) + 1);
    if (usedOf(slot) === 0) times.clear(slot);
    while (times.count(slot) > 0 && ageOfOldest(slot) >= windowMs) times.shift(slot);
    if (usedOf(slot) >= limit) return false;
    unlink(slot, level);
    return true;
  }

  /** A slot off the lists, with room, under the wanted fingerprint; 0 if nobody has any left. */
  function admit(): number {
    let slot = 0;
    if (size < maxClients) {
      slot = spare === 0 ? ++made : spare;
      if (slot === spare) spare = newer[slot] as number;
      newest[slot] = Number.NEGATIVE_INFINITY;
      size++;
    } else {
      for (let level = 0; slot === 0 && level <= full; level++) {
        const head = first[level] as number;
        if (head !== 0 && leave(head)) slot = head;
      }
      if (slot === 0) return 0;
      removeFromBucket(slot);
    }
    const bucket = bucketOf(wanted[0] as number);
    low[slot] = wanted[0] as number;
    high[slot] = wanted[1] as number;
    bucketNext[slot] = buckets[bucket] as number;
    buckets[bucket] = slot;
    return slot;
  }

  /** Frees a few clients whose every request has left the window. */
  function sweep(): void {
    let left = SWEPT;
    nextExpiry = Number.POSITIVE_INFINITY;
    for (let level = 0; level <= full; level++) {
      let slot = first[level] as number;
      for (; slot !== 0 && left > 0 && usedOf(slot) === 0; left--) {
        unlink(slot, level);
        removeFromBucket(slot);
        times.clear(slot);
        newer[slot] = spare;
        spare = slot;
        size--;
        slot = first[level] as number;
      }
      if (slot !== 0) nextExpiry = Math.min(nextExpiry, (newest[slot] as number) + windowMs);
    }
  }

  function bucketOf(lowBits: number): number {
    return lowBits & (buckets.length - 1);
  }

  function find(): number {
    const lowBits = wanted[0] as number;
    let slot = buckets[bucketOf(lowBits)] as number;
    while (slot !== 0 && (low[slot] !== lowBits || high[slot] !== wanted[1])) {
      slot = bucketNext[slot] as number;
    }
    return slot;
  }

  function removeFromBucket(slot: number): void {
    const bucket = bucketOf(low[slot] as number);
    const after = bucketNext[slot] as number;
    let before = buckets[bucket] as number;
    if (before === slot) {
      buckets[bucket] = after;
      return;
    }
    while (bucketNext[before] !== slot) before = bucketNext[before] as number;
    bucketNext[before] = after;
  }

  function append(slot: number, level: number): void {
    const before = last[level] as number;
    older[slot] = before;
    newer[slot] = 0;
    last[level] = slot;
    if (before === 0) first[level] = slot;
    else newer[before] = slot;
  }

  function unlink(slot: number, level: number): void {
    const before = older[slot] as number;
    const after = newer[slot] as number;
    if (before === 0) first[level] = after;
    else newer[before] = after;
    if (after === 0) last[level] = before;
    else older[after] = before;
  }

  return {
    take,
    get size() {
      return size;
    },
  };
}

function assertWhole(name: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new RangeError(`${name} must be a whole number from 1 to ${max}, not ${value}`);
  }
}
