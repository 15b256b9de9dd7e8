/**
 * Owns the times that clients have used, oldest first, in as little memory as they fill: a ring of
 * chunks a client, from one store for all. Knows no clock, no limit and no client but its slot.
 *
 *     a ring of two chunks, nothing free between the newest and the oldest
 *     ┌ tail chunk ────────┐      ┌ head chunk ────────┐
 *     │ 5 6 7 · · · · ·  ──┼─────▶│ · · 1 2 3 4 ...  ──┼──▶ back to the tail chunk
 *     └────────────────────┘      └────────────────────┘
 */

/** 15 times and a link: 64 bytes, one cache line. */
const TIMES = 15;
const WORDS = 16;
const LINK = 15;

/** 256 KB. The store grows by one such page, so growing copies nothing and pauses nobody. */
const PAGE_CHUNKS = 4096;

export interface Times {
  /** How many times the slot holds. */
  count(slot: number): number;
  /** The oldest, as an unsigned 32-bit number. The slot must hold one. */
  oldest(slot: number): number;
  /** Appends a time, of which the low 32 bits are kept. */
  push(slot: number, time: number): void;
  /** Drops the oldest. The slot must hold one. */
  shift(slot: number): void;
  /** Drops all, in constant time. */
  clear(slot: number): void;
}

/**
 * For slots below `slots`: 13 bytes each, touched only when used, and 64 for every 15 times. A
 * ring's free places lie in its head and tail chunks alone, so a client that goes on at its limit
 * takes no more chunks than its times fill, and one that slows down gives chunks back.
 */
export function createTimes(slots: number): Times {
  const pages: Uint32Array[] = [];
  // Chunk 0 stands for none.
  let made = 1;
  let spare = 0;

  const heads = new Int32Array(slots);
  const tails = new Int32Array(slots);
  const counts = new Int32Array(slots);
  /** Where the oldest time is in its head chunk. */
  const offsets = new Uint8Array(slots);

  function pageOf(chunk: number): Uint32Array {
    return pages[(chunk / PAGE_CHUNKS) | 0] as Uint32Array;
  }
  function baseOf(chunk: number): number {
    return (chunk % PAGE_CHUNKS) * WORDS;
  }
  function linkOf(chunk: number): number {
    return pageOf(chunk)[baseOf(chunk) + LINK] as number;
  }
  function setLink(chunk: number, to: number): void {
    pageOf(chunk)[baseOf(chunk) + LINK] = to;
  }

  function allocate(): number {
    const chunk = spare;
    if (chunk !== 0) {
      spare = linkOf(chunk);
      return chunk;
    }
    if (made >= pages.length * PAGE_CHUNKS) pages.push(new Uint32Array(PAGE_CHUNKS * WORDS));
    return made++;
  }

  function free(chunk: number): void {
    setLink(chunk, spare);
    spare = chunk;
  }

  /** A new chunk, linked in after `chunk`. */
  function insertAfter(chunk: number): number {
    const added = allocate();
    setLink(added, linkOf(chunk));
    setLink(chunk, added);
    return added;
  }

  function count(slot: number): number {
    return counts[slot] as number;
  }

  function oldest(slot: number): number {
    const head = heads[slot] as number;
    return pageOf(head)[baseOf(head) + (offsets[slot] as number)] as number;
  }

  function push(slot: number, time: number): void {
    const held = counts[slot] as number;
    const offset = offsets[slot] as number;
    const at = (offset + held) % TIMES;
    let tail = tails[slot] as number;
    if (held === 0) {
      tail = allocate();
      setLink(tail, tail);
      heads[slot] = tail;
    } else if (at === 0) {
      // The tail chunk is full to its end; what follows is the head chunk, whose front may be free.
      tail = offset > 0 ? linkOf(tail) : insertAfter(tail);
    } else if (at === offset && tail === heads[slot]) {
      // Full, the newest right before the oldest in one chunk: the oldest move on to a new one.
      const head = insertAfter(tail);
      const from = baseOf(tail);
      const to = baseOf(head);
      for (let i = offset; i < TIMES; i++) {
        pageOf(head)[to + i] = pageOf(tail)[from + i] as number;
      }
      heads[slot] = head;
    }
    tails[slot] = tail;
    counts[slot] = held + 1;
    pageOf(tail)[baseOf(tail) + at] = time;
  }

  function shift(slot: number): void {
    const held = (counts[slot] as number) - 1;
    if (held === 0) {
      clear(slot);
      return;
    }
    const offset = (offsets[slot] as number) + 1;
    counts[slot] = held;
    offsets[slot] = offset % TIMES;
    if (offset < TIMES) return;
    const head = heads[slot] as number;
    const tail = tails[slot] as number;
    const next = linkOf(head);
    heads[slot] = next;
    if (tail !== head) {
      setLink(tail, next);
      free(head);
    }
  }

  function clear(slot: number): void {
    if (counts[slot] === 0) return;
    const tail = tails[slot] as number;
    const first = linkOf(tail);
    setLink(tail, spare);
    spare = first;
    counts[slot] = 0;
  }

  return { count, oldest, push, shift, clear };
}
