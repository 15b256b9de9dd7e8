/**
 * Makes the posting lists of all names: a radix sort of the positions where n-grams start, in one
 * text of all names.
 */
import { SPELLING_END } from "./fold.ts";
import { END, START, WORD } from "./ngrams.ts";
import { wordStartsOf } from "./tiers.ts";
import { MAX_NGRAM } from "./tuning.ts";

/** Ends each spelling. Never occurs in UTF-8, and sorts between ASCII and all other characters. */
const NAME_END = 0xc1;
const SPELLING_END_BYTE = SPELLING_END.charCodeAt(0);

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
}

/** Packs names, each in all its spellings. `bytes` is their length, each with one more byte. */
export function createPacker(bytes: number) {
  /**
   * All spellings of all names in UTF-8, each followed by {@link NAME_END}. A million names take
   * 20 MB, far less than strings. Posting lists are built twice as fast when neighbouring names are
   * close in memory.
   */
  const text = Buffer.alloc(bytes);
  /** The ascending offsets at which a word starts, but no spelling does. */
  const laterWords: number[] = [];
  /** The document id of the name at each byte. */
  const docIds = new Uint32Array(bytes);
  let from = 0;
  return {
    packed: { text, laterWords, docIds },
    /** Document ids must ascend. */
    add(spellings: string, docId: number): void {
      let word = from;
      let last = 0;
      for (const start of wordStartsOf(spellings)) {
        word += Buffer.byteLength(spellings.slice(last, start));
        if (start > 0 && spellings[start - 1] !== SPELLING_END) laterWords.push(word);
        last = start;
      }
      const end = from + text.write(spellings, from);
      for (let at = from; at < end; at++) if (text[at] === SPELLING_END_BYTE) text[at] = NAME_END;
      text[end] = NAME_END;
      docIds.fill(docId, from, end + 1);
      from = end + 1;
    },
  };
}

type PackedNames = ReturnType<typeof createPacker>["packed"];

/** In UTF-8 order. N-grams with over `threshold` positions are frequent. */
export function* listPostings(packed: PackedNames, threshold: number): Generator<PostingList> {
  const { text, docIds } = packed;
  const { positions, groups } = groupPositions(packed);
  const scratch = new Uint32Array(Math.max(0, ...groups.map(({ from, to }) => to - from)));
  const ends = new Uint32Array(256);
  const list = { ngram: "", docIds: new Uint32Array(scratch.length), size: 0, count: 0 };

  function setList(ngram: string, from: number, to: number): void {
    list.ngram = ngram;
    list.count = to - from;
    list.size = 0;
    for (let at = from, last = -1; at < to; at++) {
      const docId = docIds[positions[at] ?? 0] ?? 0;
      if (docId !== last) list.docIds[list.size++] = docId;
      last = docId;
    }
  }

  /** Sorts a range by the byte at `offset`; equal bytes keep their order. Sets each byte's end. */
  function sortByByte(from: number, to: number, offset: number): void {
    ends.fill(0);
    for (let at = from; at < to; at++) {
      const position = positions[at] ?? 0;
      scratch[at - from] = position;
      increment(ends, text[position + offset] ?? 0);
    }
    toStarts(ends, from);
    for (let at = 0; at < to - from; at++) {
      const position = scratch[at] ?? 0;
      positions[increment(ends, text[position + offset] ?? 0)] = position;
    }
  }

  for (const { boundary, ...group } of groups) {
    /** Each bucket is a range of positions whose n-grams start with the same `bytes` bytes. */
    const buckets = [{ ...group, bytes: 1, codePoints: 1 }];
    for (let bucket = buckets.pop(); bucket; bucket = buckets.pop()) {
      const { from, to, bytes } = bucket;
      let { codePoints } = bucket;
      const first = positions[from] ?? 0;
      const next = first + bytes;
      const isWithinCharacter = (text[next] ?? 0) >> 6 === 0b10;
      if (!isWithinCharacter) {
        const isEnd = text[next - 1] === NAME_END;
        const inside = text.toString("utf8", first, isEnd ? next - 1 : next);
        setList(boundary + inside + (isEnd ? END : ""), from, to);
        yield list;
        if (list.count <= threshold || isEnd || codePoints === MAX_NGRAM) continue;
        codePoints++;
      }
      sortByByte(from, to, bytes);
      for (let byte = 0xff; byte >= 0; byte--) {
        const start = ends[byte - 1] ?? from;
        const end = ends[byte] ?? 0;
        // Only an n-gram at the start of a name can include the end of the name.
        if (start === end || (byte === NAME_END && boundary !== START)) continue;
        buckets.push({ from: start, to: end, bytes: bytes + 1, codePoints });
      }
    }
  }
}

/** Boundary markers sort after ASCII characters and before all other characters. */
const BOUNDARIES = ["", START, WORD, ""];

/** Returns all positions, ascending within each group with the same boundary and first byte. */
function groupPositions({ text, laterWords }: PackedNames) {
  const ends = new Uint32Array(256 * BOUNDARIES.length);
  const visit = (use: (group: number, at: number) => void) => {
    for (let at = 0; at < text.length; at++) {
      const byte = text[at] ?? 0;
      if (byte < 0x80) use(byte, at);
      else if (byte > NAME_END) use(3 * 256 + byte, at);
      if (at === 0 || text[at - 1] === NAME_END) use(256 + byte, at);
    }
    for (const at of laterWords) use(2 * 256 + (text[at] ?? 0), at);
  };
  visit((group) => increment(ends, group));
  const positions = new Uint32Array(toStarts(ends));
  visit((group, at) => {
    positions[increment(ends, group)] = at;
  });
  const groups = Array.from(ends, (to, group) => {
    return { boundary: BOUNDARIES[group >> 8] ?? "", from: ends[group - 1] ?? 0, to };
  });
  return { positions, groups: groups.filter(({ from, to }) => from < to) };
}

/** Returns the count before it is incremented. */
function increment(counts: Uint32Array, at: number): number {
  const count = counts[at] ?? 0;
  counts[at] = count + 1;
  return count;
}

/** Replaces each count by the sum of those before it and `from`. Returns the sum of all. */
function toStarts(counts: Uint32Array, from = 0): number {
  let start = from;
  for (let at = 0; at < counts.length; at++) {
    const count = counts[at] ?? 0;
    counts[at] = start;
    start += count;
  }
  return start;
}
