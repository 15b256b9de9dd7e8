/**
 * The posting lists of all names, n-gram by n-gram in the order of their UTF-8. It is a radix sort of the
 * places in the names where n-grams start, which goes on only below n-grams that are frequent: so it finds
 * out which these are, and their lists, without a table of n-grams. Pure; ngrams.ts has the rule.
 */
import { hasBit } from "./bits.ts";
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

/** Places where n-grams start: those with a boundary, then a text, then a byte of a range. */
export interface Part {
  boundary: Boundary;
  /** The UTF-8 of the text. */
  text: readonly number[];
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

/** Each part is a walk over all names. */
const PARTS = 8;

/**
 * The places of a part are in memory twice, with 8 bytes each: 64 MB. A part with more is one n-gram or the
 * beginning of some: it is walked over for the list of that n-gram, then divided by its next byte.
 */
export const MAX_PLACES = 1 << 22;

/** A boundary, and code points of up to four bytes. */
const MAX_NGRAM_BYTES = 2 + 4 * MAX_NGRAM;

/** The max places of a part that is sorted: it follows from the bytes of all names alone. */
export function mostPlaces(bytes: number): number {
  return Math.min(MAX_PLACES, Math.ceil(bytes / PARTS));
}

/** `ranks` are those of `names`, ascending; what they have more than `threshold` times is frequent. */
export function* listPostings(
  names: FoldedNames,
  ranks: Uint32Array,
  threshold: number,
): Generator<PostingList> {
  const most = mostPlaces(names.text.length);
  // Pairs of a place and the rank of its name.
  const sides = [new Uint32Array(2 * most), new Uint32Array(2 * most)] as const;
  const list: PostingList = {
    ngram: Buffer.alloc(MAX_NGRAM_BYTES),
    ngramBytes: 0,
    ranks: new Uint32Array(ranks.length),
    size: 0,
    count: 0,
    isFrequent: false,
  };

  function* listAll(parts: Part[]): Generator<PostingList> {
    for (const part of parts) {
      if (part.count <= most) {
        collect(names, ranks, part, sides[part.text.length % 2 === 0 ? 0 : 1]);
        yield* sortPart(names.text, part, sides, threshold, list);
        continue;
      }
      const text = [...part.text, part.firstByte];
      const { place, counts } = survey(names, ranks, part, list);
      const codePoints = writeNgram(names.text, place, text.length, part.boundary, list);
      list.isFrequent = list.count > threshold;
      const isEnd = part.firstByte === NAME_END;
      if (isEnd || !isContinuation(names.text[place + text.length])) {
        yield list;
        if (!list.isFrequent || codePoints === MAX_NGRAM || isEnd) continue;
      }
      yield* listAll(group({ ...part, text }, counts, most));
    }
  }

  for (const part of listParts(names)) {
    yield* listAll(group(part, countNext(names, part), most));
  }
}

/** All places, in the order of their n-grams: boundaries come before all that is not ASCII. */
function listParts({ text }: FoldedNames): Part[] {
  const part = { text: [], firstByte: 0, lastByte: 0xff, count: text.length };
  return [
    { ...part, boundary: "", lastByte: 0x7f },
    { ...part, boundary: START },
    { ...part, boundary: WORD },
    { ...part, boundary: "", firstByte: 0x80 },
  ];
}

/** How many places of a part have each next byte. */
function countNext(names: FoldedNames, part: Part): Uint32Array {
  const counts = new Uint32Array(256);
  visit(names, part, (_, place) => {
    const byte = names.text[place + part.text.length] ?? 0;
    counts[byte] = (counts[byte] ?? 0) + 1;
  });
  return counts;
}

/**
 * The places that have a boundary and a text, in parts by their next byte: of at most `most` places, or
 * with a single next byte. `counts` are those of each next byte.
 */
export function group(
  { boundary, text }: Pick<Part, "boundary" | "text">,
  counts: Uint32Array,
  most: number,
): Part[] {
  const parts: Part[] = [];
  for (const [byte, count] of counts.entries()) {
    // Only from the start of a name on its end is a part of n-grams.
    if (count === 0 || (byte === NAME_END && boundary !== START)) continue;
    const part = parts.at(-1);
    if (part && part.count + count <= most) {
      part.lastByte = byte;
      part.count += count;
    } else parts.push({ boundary, text, firstByte: byte, lastByte: byte, count });
  }
  return parts;
}

/** Calls `see` with the index of a name and the place, for each place of a part, in the order of ranks. */
function visit(
  { text, starts, laterWords }: FoldedNames,
  { boundary, text: beginning, firstByte, lastByte }: Part,
  see: (at: number, place: number) => void,
): void {
  const bytes = beginning.length;
  for (let at = 0; at < starts.length - 1; at++) {
    const end = starts[at + 1] ?? 0;
    let isFirst = true;
    for (let place = starts[at] ?? 0; place < end; place++) {
      const isStart =
        boundary === ""
          ? !isContinuation(text[place])
          : boundary === START
            ? isFirst
            : hasBit(laterWords, place);
      isFirst = text[place] === NAME_END;
      const byte = text[place + bytes] ?? 0;
      if (isStart && byte >= firstByte && byte <= lastByte) {
        let same = 0;
        while (same < bytes && text[place + same] === beginning[same]) same++;
        if (same === bytes && (byte !== NAME_END || boundary === START)) see(at, place);
      }
    }
  }
}

/** Fills `places` with the places of a part. */
function collect(names: FoldedNames, ranks: Uint32Array, part: Part, places: Uint32Array): void {
  let size = 0;
  visit(names, part, (at, place) => {
    places[size++] = place;
    places[size++] = ranks[at] ?? 0;
  });
}

/** Makes `list` that of a part with a single next byte; returns a place of it, and which bytes follow. */
function survey(names: FoldedNames, ranks: Uint32Array, part: Part, list: PostingList) {
  const counts = new Uint32Array(256);
  const next = part.text.length + 1;
  let last = -1;
  let place = 0;
  list.size = 0;
  list.count = part.count;
  visit(names, part, (at, seen) => {
    if (at !== last) list.ranks[list.size++] = ranks[at] ?? 0;
    last = at;
    place = seen;
    const byte = names.text[seen + next] ?? 0;
    counts[byte] = (counts[byte] ?? 0) + 1;
  });
  return { place, counts };
}

/** Writes the n-gram at a place, which has `bytes` bytes, into `list`; returns its code points. */
function writeNgram(
  text: Uint8Array,
  place: number,
  bytes: number,
  boundary: Boundary,
  list: PostingList,
): number {
  let codePoints = 0;
  list.ngramBytes = list.ngram.write(boundary);
  for (let at = place; at < place + bytes; at++) {
    const byte = text[at] ?? 0;
    if (!isContinuation(byte)) codePoints++;
    list.ngram[list.ngramBytes++] = byte;
  }
  if (text[place + bytes - 1] === NAME_END) {
    list.ngramBytes += list.ngram.write(END, list.ngramBytes - 1) - 1;
  }
  return codePoints;
}

function* sortPart(
  text: Uint8Array,
  part: Part,
  sides: readonly [Uint32Array, Uint32Array],
  threshold: number,
  list: PostingList,
): Generator<PostingList> {
  const ends = new Uint32Array(256);
  const shared = part.text.length;
  const buckets: Bucket[] = [{ from: 0, to: part.count, bytes: shared }];
  for (let bucket = buckets.pop(); bucket; bucket = buckets.pop()) {
    const { from, to, bytes } = bucket;
    // Each byte more takes the places to the other side.
    const isEven = bytes % 2 === 0;
    const places = isEven ? sides[0] : sides[1];
    const target = isEven ? sides[1] : sides[0];
    const first = places[2 * from] ?? 0;
    const isEnd = bytes > 0 && text[first + bytes - 1] === NAME_END;
    if (bytes > shared && !isContinuation(text[first + bytes])) {
      const codePoints = writeNgram(text, first, bytes, part.boundary, list);
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
      if (start === end || (byte === NAME_END && part.boundary !== START)) continue;
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
