/** Makes the posting lists of all names: a radix sort of the positions where n-grams start. */
import { hasBit } from "./bits.ts";
import { type Boundary, END, START, WORD } from "./ngrams.ts";
import { NAME_END, type PackedNames } from "./packed-names.ts";
import { MAX_NGRAM } from "./tuning.ts";

/**
 * The posting list of one n-gram. This object and its array are reused for the next list: a new
 * view of an array for each of 20 million lists would take a gigabyte.
 */
export interface PostingList {
  ngram: string;
  /** Ascending, in the first `size` elements. */
  docIds: Uint32Array;
  size: number;
  /** How often the n-gram occurs across all names. */
  count: number;
  isFrequent: boolean;
}

/** In UTF-8 order. N-grams with over `threshold` positions are frequent. `docIds` must ascend. */
export function* listPostings(
  { text, starts, laterWords }: PackedNames,
  docIds: Uint32Array,
  threshold: number,
): Generator<PostingList> {
  const ends = new Uint32Array(256);
  const list: PostingList = {
    ngram: "",
    docIds: new Uint32Array(docIds.length),
    size: 0,
    count: 0,
    isFrequent: false,
  };

  function setList(ngram: string, pairs: Uint32Array, from: number, to: number): void {
    list.ngram = ngram;
    list.count = (to - from) / 2;
    list.isFrequent = list.count > threshold;
    list.size = 0;
    let last = -1;
    for (let at = from + 1; at < to; at += 2) {
      const docId = pairs[at] ?? 0;
      if (docId !== last) list.docIds[list.size++] = docId;
      last = docId;
    }
  }

  /** Lists the n-grams at ascending positions that have the same first byte. */
  function* listGroup(
    boundary: Boundary,
    group: Uint32Array,
    buffers: readonly [Uint32Array, Uint32Array],
  ): Generator<PostingList> {
    let name = 0;
    for (let at = 0; at < group.length; at++) {
      const position = group[at] ?? 0;
      while ((starts[name + 1] ?? 0) <= position) name++;
      buffers[0][2 * at] = position;
      buffers[0][2 * at + 1] = docIds[name] ?? 0;
    }
    /** Each bucket is a range of positions whose n-grams start with the same `bytes` bytes. */
    const buckets = [{ from: 0, to: 2 * group.length, bytes: 1, codePoints: 1 }];
    for (let bucket = buckets.pop(); bucket; bucket = buckets.pop()) {
      const { from, to, bytes } = bucket;
      let { codePoints } = bucket;
      // Sorting by each further byte moves the pairs to the other buffer.
      const isOdd = bytes % 2 === 1;
      const pairs = buffers[isOdd ? 0 : 1];
      const target = buffers[isOdd ? 1 : 0];
      const first = pairs[from] ?? 0;
      const next = first + bytes;
      if (!isContinuation(text[next])) {
        const isEnd = text[next - 1] === NAME_END;
        const inside = text.toString("utf8", first, isEnd ? next - 1 : next);
        setList(boundary + inside + (isEnd ? END : ""), pairs, from, to);
        yield list;
        if (!list.isFrequent || isEnd || codePoints === MAX_NGRAM) continue;
        codePoints++;
      }
      sortByByte(text, pairs, target, bucket, ends);
      for (let byte = 0xff; byte >= 0; byte--) {
        const start = byte === 0 ? from : (ends[byte - 1] ?? 0);
        const end = ends[byte] ?? 0;
        // Only an n-gram at the start of a name can include the end of the name.
        if (start === end || (byte === NAME_END && boundary !== START)) continue;
        buckets.push({ from: start, to: end, bytes: bytes + 1, codePoints });
      }
    }
  }

  function* listAll(boundary: Boundary, isStart: IsStart): Generator<PostingList> {
    const groups = groupByFirstByte(text, isStart);
    // Each pair of elements is a position and the document id of the name at that position.
    const size = 2 * Math.max(0, ...groups.map(({ length }) => length));
    const buffers = [new Uint32Array(size), new Uint32Array(size)] as const;
    for (const group of groups) yield* listGroup(boundary, group, buffers);
  }

  // Boundary markers sort after ASCII characters and before all other characters.
  yield* listAll("", (byte) => byte < 0x80);
  yield* listAll(START, (_, at) => at === 0 || text[at - 1] === NAME_END);
  yield* listAll(WORD, (_, at) => hasBit(laterWords, at));
  yield* listAll("", (byte) => byte > NAME_END);
}

type IsStart = (byte: number, at: number) => boolean;

/** Returns the positions that are starts, in ascending arrays, one for each byte there. */
function groupByFirstByte(text: Buffer, isStart: IsStart): Uint32Array[] {
  const sizes = new Uint32Array(256);
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] ?? 0;
    if (isStart(byte, at)) increment(sizes, byte);
  }
  const groups = Array.from(sizes, (size) => new Uint32Array(size));
  sizes.fill(0);
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] ?? 0;
    if (isStart(byte, at)) {
      const group = groups[byte];
      if (group) group[increment(sizes, byte)] = at;
    }
  }
  return groups.filter(({ length }) => length > 0);
}

/**
 * Copies a bucket's pairs to `target`, sorted by the next byte. Pairs with the same byte keep their
 * order. Sets `ends` to the end of each byte's run.
 */
function sortByByte(
  text: Buffer,
  pairs: Uint32Array,
  target: Uint32Array,
  { from, to, bytes }: { from: number; to: number; bytes: number },
  ends: Uint32Array,
): void {
  ends.fill(0);
  for (let at = from; at < to; at += 2) {
    increment(ends, text[(pairs[at] ?? 0) + bytes] ?? 0, 2);
  }
  let end = from;
  for (let byte = 0; byte < 256; byte++) {
    const size = ends[byte] ?? 0;
    ends[byte] = end;
    end += size;
  }
  for (let at = from; at < to; at += 2) {
    const position = pairs[at] ?? 0;
    const place = increment(ends, text[position + bytes] ?? 0, 2);
    target[place] = position;
    target[place + 1] = pairs[at + 1] ?? 0;
  }
}

/** Returns the count before it is incremented. */
function increment(counts: Uint32Array, at: number, by = 1): number {
  const count = counts[at] ?? 0;
  counts[at] = count + by;
  return count;
}

function isContinuation(byte = 0): boolean {
  return byte >> 6 === 0b10;
}
