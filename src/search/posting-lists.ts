/**
 * The posting lists of all names, n-gram by n-gram in the order of their UTF-8. It is a radix sort of the
 * places in the names where n-grams start, which goes on only below n-grams that are frequent: so it finds
 * out which these are, and their lists, without a table of n-grams. Pure; ngrams.ts has the rule.
 */
import { hasBit, listBits } from "./bits.ts";
import { type FoldedNames, NAME_END } from "./folded-names.ts";
import { type Boundary, END, MAX_NGRAM, START, WORD } from "./ngrams.ts";

/** A list; its arrays are filled anew for the next one. */
export interface PostingList {
  /** The UTF-8 of the n-gram, and how many bytes that are. */
  ngram: Buffer;
  ngramBytes: number;
  /** The ranks of the names that have it, ascending, and how many they are. */
  ranks: Uint32Array;
  size: number;
  /** How often the names have it, some more than once. */
  count: number;
  isFrequent: boolean;
}

/** Places where n-grams start: those with a byte of a range, or those behind a boundary. */
interface Part {
  boundary: Boundary;
  firstByte: number;
  lastByte: number;
  count: number;
}

/** The places from `from` to `to` that have their first bytes in common. */
interface Bucket {
  from: number;
  to: number;
  bytes: number;
}

/** Each part is a walk over all names, and the places of the largest are in memory twice. */
const PARTS = 8;

/** A boundary, and code points of up to four bytes. */
const MAX_NGRAM_BYTES = 2 + 4 * MAX_NGRAM;

/** `ranks` are those of `names`, ascending; what they have more than `threshold` times is frequent. */
export function* listPostings(
  names: FoldedNames,
  ranks: Uint32Array,
  threshold: number,
): Generator<PostingList> {
  const parts = listParts(names);
  const most = Math.max(0, ...parts.map(({ count }) => count));
  // Pairs of a place and the rank of its name.
  const sides = [new Uint32Array(2 * most), new Uint32Array(2 * most)] as const;
  const list: PostingList = {
    ngram: Buffer.alloc(MAX_NGRAM_BYTES),
    ngramBytes: 0,
    ranks: new Uint32Array(most),
    size: 0,
    count: 0,
    isFrequent: false,
  };
  for (const part of parts) {
    collect(names, ranks, part, sides[0]);
    yield* sortPart(names.text, part, sides, threshold, list);
  }
}

/** In the order of the n-grams that start there. */
function listParts({ text, laterWords }: FoldedNames): Part[] {
  const counts = new Uint32Array(256);
  for (const byte of text) counts[byte] = (counts[byte] ?? 0) + 1;
  let words = 0;
  for (const _ of listBits(laterWords)) words++;
  const largest = text.length / PARTS;
  const parts: Part[] = [];
  for (const [byte, count] of counts.entries()) {
    if (count === 0 || isContinuation(byte)) continue;
    const part = parts.at(-1);
    if (byte === NAME_END) {
      // Where the boundaries are in the order of UTF-8, too.
      parts.push({ boundary: START, firstByte: 0, lastByte: 0, count });
      parts.push({ boundary: WORD, firstByte: 0, lastByte: 0, count: words });
    } else if (part?.boundary === "" && part.count + count <= largest) {
      part.lastByte = byte;
      part.count += count;
    } else parts.push({ boundary: "", firstByte: byte, lastByte: byte, count });
  }
  return parts;
}

/** Fills `places` with the places of a part, in the order of ranks. */
function collect(
  { text, starts, laterWords }: FoldedNames,
  ranks: Uint32Array,
  { boundary, firstByte, lastByte }: Part,
  places: Uint32Array,
): void {
  let size = 0;
  for (let at = 0; at < starts.length; at++) {
    const start = starts[at] ?? 0;
    const rank = ranks[at] ?? 0;
    if (boundary === START) {
      places[size++] = start;
      places[size++] = rank;
      continue;
    }
    for (let place = start; text[place] !== NAME_END; place++) {
      const byte = text[place] ?? 0;
      const isIn =
        boundary === WORD ? hasBit(laterWords, place) : byte >= firstByte && byte <= lastByte;
      if (!isIn) continue;
      places[size++] = place;
      places[size++] = rank;
    }
  }
}

function* sortPart(
  text: Uint8Array,
  { boundary, count }: Part,
  sides: readonly [Uint32Array, Uint32Array],
  threshold: number,
  list: PostingList,
): Generator<PostingList> {
  const prefix = list.ngram.write(boundary);
  const ends = new Uint32Array(256);
  const buckets: Bucket[] = [{ from: 0, to: count, bytes: 0 }];
  for (let bucket = buckets.pop(); bucket; bucket = buckets.pop()) {
    const { from, to, bytes } = bucket;
    // Each byte more takes the places to the other side.
    const isEven = bytes % 2 === 0;
    const places = isEven ? sides[0] : sides[1];
    const target = isEven ? sides[1] : sides[0];
    const first = places[2 * from] ?? 0;
    const isEnd = bytes > 0 && text[first + bytes - 1] === NAME_END;
    if (bytes > 0 && !isContinuation(text[first + bytes])) {
      let codePoints = 0;
      list.ngramBytes = prefix;
      for (let at = first; at < first + bytes; at++) {
        const byte = text[at] ?? 0;
        if (!isContinuation(byte)) codePoints++;
        list.ngram[list.ngramBytes++] = byte;
      }
      if (isEnd) list.ngramBytes += list.ngram.write(END, list.ngramBytes - 1) - 1;
      list.count = to - from;
      list.isFrequent = list.count > threshold;
      list.size = takeRanks(places, from, to, list.ranks);
      yield list;
      if (!list.isFrequent || codePoints === MAX_NGRAM || isEnd) continue;
    }
    split(text, places, target, bucket, ends);
    for (let byte = 0xff; byte >= 0; byte--) {
      const start = byte === 0 ? from : (ends[byte - 1] ?? 0);
      const end = ends[byte] ?? 0;
      // Only from the start of a name on its end is a part of n-grams.
      if (start === end || (byte === NAME_END && boundary !== START)) continue;
      buckets.push({ from: start, to: end, bytes: bytes + 1 });
    }
  }
}

/** Whether a byte of UTF-8 goes on with a code point. */
function isContinuation(byte = 0): boolean {
  return byte >> 6 === 0b10;
}

/** Copies the ranks of the places `from` to `to`, each once, to `ranks`; returns how many they are. */
function takeRanks(places: Uint32Array, from: number, to: number, ranks: Uint32Array): number {
  let size = 0;
  let last = -1;
  for (let at = from; at < to; at++) {
    const rank = places[2 * at + 1] ?? 0;
    if (rank !== last) ranks[size++] = rank;
    last = rank;
  }
  return size;
}

/** Sorts a bucket by its next byte into `target`; `ends` becomes where the places of each byte end. */
function split(
  text: Uint8Array,
  places: Uint32Array,
  target: Uint32Array,
  { from, to, bytes }: Bucket,
  ends: Uint32Array,
): void {
  ends.fill(0);
  for (let at = from; at < to; at++) {
    const byte = text[(places[2 * at] ?? 0) + bytes] ?? 0;
    ends[byte] = (ends[byte] ?? 0) + 1;
  }
  let start = from;
  for (let byte = 0; byte < 256; byte++) {
    const count = ends[byte] ?? 0;
    ends[byte] = start;
    start += count;
  }
  for (let at = from; at < to; at++) {
    const place = places[2 * at] ?? 0;
    const byte = text[place + bytes] ?? 0;
    const to = ends[byte] ?? 0;
    ends[byte] = to + 1;
    target[2 * to] = place;
    target[2 * to + 1] = places[2 * at + 1] ?? 0;
  }
}
