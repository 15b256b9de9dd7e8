/** Makes the posting lists of all names with a radix sort of the positions where n-grams start. */
import { hasBit } from "./bits.ts";
import { type FoldedNames, NAME_END } from "./folded-names.ts";
import { type Boundary, END, MAX_NGRAM, START, WORD } from "./ngrams.ts";

/** The posting list of one n-gram. This object and its arrays are reused for the next list. */
export interface PostingList {
  /** UTF-8 in the first `ngramBytes` bytes. */
  ngram: Buffer;
  ngramBytes: number;
  /** Ascending, in the first `size` elements. */
  docIds: Uint32Array;
  size: number;
  /** How often the n-gram occurs across all names. */
  count: number;
  isFrequent: boolean;
}

/** The positions of all n-grams that start with `boundary`, `text` and a byte in a range. */
interface Part {
  boundary: Boundary;
  text: readonly number[];
  firstByte: number;
  lastByte: number;
  count: number;
}

/** The positions are sorted in at least this many parts, each with a pass over all names. */
const PARTS = 8;

/**
 * The maximum number of positions to sort at once, in up to 64 MB. If a part has more positions,
 * all of them are followed by the same byte, and an extra pass divides the part.
 */
const MAX_POSITIONS = 1 << 22;

/** A boundary marker takes two bytes. Each code point takes up to four. */
const MAX_NGRAM_BYTES = 2 + 4 * MAX_NGRAM;

/** In UTF-8 order. N-grams with over `threshold` positions are frequent. `docIds` must ascend. */
export function* listPostings(
  names: FoldedNames,
  docIds: Uint32Array,
  threshold: number,
): Generator<PostingList> {
  const maxPositions = Math.min(MAX_POSITIONS, Math.ceil(names.text.length / PARTS));
  // Each pair of elements is a position and the document id of the name at that position.
  const buffers = [new Uint32Array(2 * maxPositions), new Uint32Array(2 * maxPositions)] as const;
  const list: PostingList = {
    ngram: Buffer.alloc(MAX_NGRAM_BYTES),
    ngramBytes: 0,
    docIds: new Uint32Array(docIds.length),
    size: 0,
    count: 0,
    isFrequent: false,
  };

  function* listParts(parts: Part[]): Generator<PostingList> {
    for (const part of parts) {
      if (part.count <= maxPositions) {
        const positions = buffers[part.text.length % 2 === 0 ? 0 : 1];
        let size = 0;
        visitPositions(names, part, (at, position) => {
          positions[size++] = position;
          positions[size++] = docIds[at] ?? 0;
        });
        yield* sortPart(names.text, part, buffers, threshold, list);
        continue;
      }
      const text = [...part.text, part.firstByte];
      const { position, counts } = scanPart(names, docIds, part, text.length, list);
      const codePoints = writeNgram(names.text, position, text.length, part.boundary, list);
      list.isFrequent = list.count > threshold;
      const isEnd = part.firstByte === NAME_END;
      if (isEnd || !isContinuation(names.text[position + text.length])) {
        yield list;
        if (!list.isFrequent || codePoints === MAX_NGRAM || isEnd) continue;
      }
      yield* listParts(groupByNextByte({ ...part, text }, counts, maxPositions));
    }
  }

  const all = { text: [], firstByte: 0, lastByte: 0xff, count: names.text.length };
  // Boundary markers sort after ASCII characters and before all other characters.
  const parts: Part[] = [
    { ...all, boundary: "", lastByte: 0x7f },
    { ...all, boundary: START },
    { ...all, boundary: WORD },
    { ...all, boundary: "", firstByte: 0x80 },
  ];
  for (const part of parts) {
    const { counts } = scanPart(names, docIds, part, 0, list);
    yield* listParts(groupByNextByte(part, counts, maxPositions));
  }
}

/** `counts` has the number of positions for each byte that follows `text`. */
function groupByNextByte(
  { boundary, text }: Pick<Part, "boundary" | "text">,
  counts: Uint32Array,
  maxPositions: number,
): Part[] {
  const parts: Part[] = [];
  for (const [byte, count] of counts.entries()) {
    if (count === 0 || (byte === NAME_END && boundary !== START)) continue;
    const part = parts.at(-1);
    if (part && part.count + count <= maxPositions) {
      part.lastByte = byte;
      part.count += count;
    } else parts.push({ boundary, text, firstByte: byte, lastByte: byte, count });
  }
  return parts;
}

function visitPositions(
  { text, starts, laterWords }: FoldedNames,
  { boundary, text: beginning, firstByte, lastByte }: Part,
  visit: (nameIndex: number, position: number) => void,
): void {
  const bytes = beginning.length;
  for (let at = 0; at < starts.length - 1; at++) {
    const end = starts[at + 1] ?? 0;
    let isFirst = true;
    for (let position = starts[at] ?? 0; position < end; position++) {
      const isStart =
        boundary === ""
          ? !isContinuation(text[position])
          : boundary === START
            ? isFirst
            : hasBit(laterWords, position);
      isFirst = text[position] === NAME_END;
      const byte = text[position + bytes] ?? 0;
      if (isStart && byte >= firstByte && byte <= lastByte) {
        let same = 0;
        while (same < bytes && text[position + same] === beginning[same]) same++;
        // Only an n-gram at the start of a name can include the end of the name.
        if (same === bytes && (byte !== NAME_END || boundary === START)) visit(at, position);
      }
    }
  }
}

/** Lists a part's document ids, and counts the bytes at the offset `next` from its positions. */
function scanPart(
  names: FoldedNames,
  docIds: Uint32Array,
  part: Part,
  next: number,
  list: PostingList,
) {
  const counts = new Uint32Array(256);
  let lastName = -1;
  let position = 0;
  list.size = 0;
  list.count = part.count;
  visitPositions(names, part, (at, visited) => {
    if (at !== lastName) list.docIds[list.size++] = docIds[at] ?? 0;
    lastName = at;
    position = visited;
    const byte = names.text[visited + next] ?? 0;
    counts[byte] = (counts[byte] ?? 0) + 1;
  });
  return { position, counts };
}

/** Copies `bytes` bytes to `list` as its n-gram. Returns the number of code points. */
function writeNgram(
  text: Uint8Array,
  position: number,
  bytes: number,
  boundary: Boundary,
  list: PostingList,
): number {
  let codePoints = 0;
  list.ngramBytes = list.ngram.write(boundary);
  for (let at = position; at < position + bytes; at++) {
    const byte = text[at] ?? 0;
    if (!isContinuation(byte)) codePoints++;
    list.ngram[list.ngramBytes++] = byte;
  }
  if (text[position + bytes - 1] === NAME_END) {
    list.ngramBytes += list.ngram.write(END, list.ngramBytes - 1) - 1;
  }
  return codePoints;
}

function* sortPart(
  text: Uint8Array,
  part: Part,
  buffers: readonly [Uint32Array, Uint32Array],
  threshold: number,
  list: PostingList,
): Generator<PostingList> {
  const ends = new Uint32Array(256);
  const shared = part.text.length;
  /** Each bucket is a range of positions whose n-grams start with the same `bytes` bytes. */
  const buckets = [{ from: 0, to: part.count, bytes: shared }];
  for (let bucket = buckets.pop(); bucket; bucket = buckets.pop()) {
    const { from, to, bytes } = bucket;
    // Sorting by each further byte moves the positions to the other buffer.
    const isEven = bytes % 2 === 0;
    const positions = isEven ? buffers[0] : buffers[1];
    const target = isEven ? buffers[1] : buffers[0];
    const first = positions[2 * from] ?? 0;
    const isEnd = bytes > 0 && text[first + bytes - 1] === NAME_END;
    if (bytes > shared && !isContinuation(text[first + bytes])) {
      const codePoints = writeNgram(text, first, bytes, part.boundary, list);
      list.count = to - from;
      list.isFrequent = list.count > threshold;
      list.size = 0;
      for (let at = from, last = -1; at < to; at++) {
        const docId = positions[2 * at + 1] ?? 0;
        if (docId !== last) list.docIds[list.size++] = docId;
        last = docId;
      }
      yield list;
      if (!list.isFrequent || codePoints === MAX_NGRAM || isEnd) continue;
    }
    sortByNextByte(text, positions, target, bucket, ends);
    for (let byte = 0xff; byte >= 0; byte--) {
      const start = byte === 0 ? from : (ends[byte - 1] ?? 0);
      const end = ends[byte] ?? 0;
      if (start === end || (byte === NAME_END && part.boundary !== START)) continue;
      buckets.push({ from: start, to: end, bytes: bytes + 1 });
    }
  }
}

function isContinuation(byte = 0): boolean {
  return byte >> 6 === 0b10;
}

/** Copies a bucket to `target`. Sets `ends` to the end of each byte's run. */
function sortByNextByte(
  text: Uint8Array,
  positions: Uint32Array,
  target: Uint32Array,
  { from, to, bytes }: { from: number; to: number; bytes: number },
  ends: Uint32Array,
): void {
  ends.fill(0);
  for (let at = from; at < to; at++) {
    const byte = text[(positions[2 * at] ?? 0) + bytes] ?? 0;
    ends[byte] = (ends[byte] ?? 0) + 1;
  }
  let start = from;
  for (let byte = 0; byte < 256; byte++) {
    const count = ends[byte] ?? 0;
    ends[byte] = start;
    start += count;
  }
  for (let at = from; at < to; at++) {
    const position = positions[2 * at] ?? 0;
    const byte = text[position + bytes] ?? 0;
    const to = ends[byte] ?? 0;
    ends[byte] = to + 1;
    target[2 * to] = position;
    target[2 * to + 1] = positions[2 * at + 1] ?? 0;
  }
}
