/**
 * Packs folded names. A million of them take 40 MB. As objects, they would take several times as
 * much. Pure.
 */
import { type Bits, hasBit, setBit } from "./bits.ts";
import { SPELLING_END } from "./spellings.ts";
import { wordStartsOf } from "./tiers.ts";

/**
 * The byte after each spelling. It never occurs in UTF-8, and it sorts after every ASCII byte and
 * before the first byte of every other character.
 */
export const NAME_END = 0xc1;
const SPELLING_END_BYTE = SPELLING_END.charCodeAt(0);

/** Names are collected in chunks, so that growing never copies memory. Each name fits in one. */
const CHUNK_BYTES = 1 << 20;

/**
 * The names in the order of their sort keys. Names with equal keys keep the order in which they
 * were added. The text has the same order, because walking it builds the posting lists twice as
 * fast when neighbours are close in memory.
 */
export interface FoldedNames {
  /** The UTF-8 of all spellings of all names. */
  text: Buffer;
  /** One bit per byte of the text, set where a word starts inside a spelling. */
  laterWords: Bits;
  /** Where each name starts in the text. The last element is the end of the text. */
  starts: Uint32Array;
  ids: Float64Array;
  sortKeys: Float64Array;
}

/** Collects a known number of names, then sorts them. */
export class NamePacker {
  readonly #chunks: Pick<FoldedNames, "text" | "laterWords">[] = [];
  /** Where each name starts in the chunks, counted over all of them. */
  readonly #starts: Uint32Array;
  readonly #ids: Float64Array;
  readonly #sortKeys: Float64Array;
  #count = 0;
  #bytes = 0;
  /** The end of the last name in the last chunk. */
  #end = CHUNK_BYTES;

  constructor(count: number) {
    this.#starts = new Uint32Array(count);
    this.#ids = new Float64Array(count);
    this.#sortKeys = new Float64Array(count);
  }

  add(id: number, sortKey: number, spellings: string): void {
    const { text, laterWords } = this.#chunkFor(spellings);
    const start = this.#end;
    this.#end += text.write(spellings, start);
    text[this.#end++] = NAME_END;
    this.#bytes += this.#end - start;
    let last = 0;
    let word = start;
    for (const at of wordStartsOf(spellings)) {
      word += Buffer.byteLength(spellings.slice(last, at));
      if (at > 0 && spellings[at - 1] !== SPELLING_END) setBit(laterWords, word);
      last = at;
    }
    this.#starts[this.#count] = (this.#chunks.length - 1) * CHUNK_BYTES + start;
    this.#ids[this.#count] = id;
    this.#sortKeys[this.#count++] = sortKey;
  }

  #chunkFor(spellings: string): Pick<FoldedNames, "text" | "laterWords"> {
    const last = this.#chunks.at(-1);
    // A UTF-16 code unit takes at most three bytes of UTF-8.
    if (last && this.#end + 3 * spellings.length + 1 <= CHUNK_BYTES) return last;
    const laterWords = new Uint32Array(CHUNK_BYTES / 32);
    const chunk = { text: Buffer.alloc(CHUNK_BYTES), laterWords };
    this.#chunks.push(chunk);
    this.#end = 0;
    return chunk;
  }

  finish(): FoldedNames {
    const order = orderOf(this.#sortKeys);
    const names = {
      text: Buffer.alloc(this.#bytes),
      laterWords: new Uint32Array((this.#bytes >> 5) + 1),
      starts: new Uint32Array(order.length + 1).fill(this.#bytes),
      ids: Float64Array.from(order, (from) => this.#ids[from] ?? 0),
      sortKeys: Float64Array.from(order, (from) => this.#sortKeys[from] ?? 0),
    };
    let position = 0;
    order.forEach((from, to) => {
      names.starts[to] = position;
      const start = this.#starts[from] ?? 0;
      const chunk = this.#chunks[Math.floor(start / CHUNK_BYTES)];
      if (!chunk) return;
      let at = start % CHUNK_BYTES;
      for (let byte = 0; byte !== NAME_END; at++) {
        byte = chunk.text[at] ?? NAME_END;
        if (hasBit(chunk.laterWords, at)) setBit(names.laterWords, position);
        names.text[position++] = byte === SPELLING_END_BYTE ? NAME_END : byte;
      }
    });
    return names;
  }
}

/** The UTF-8 of all spellings of a name, separated by {@link SPELLING_END}. */
export function spellingsAt({ text, starts }: FoldedNames, at: number): Buffer {
  const spellings = text.subarray(starts[at], (starts[at + 1] ?? 1) - 1);
  if (!spellings.includes(NAME_END)) return spellings;
  return Buffer.from(spellings.map((byte) => (byte === NAME_END ? SPELLING_END_BYTE : byte)));
}

/** The indexes of the sort keys in ascending order of the keys. Equal keys keep their order. */
function orderOf(sortKeys: Float64Array): number[] {
  const groups = Map.groupBy(sortKeys.keys(), (at) => sortKeys[at] ?? 0);
  return [...groups].sort(([a], [b]) => a - b).flatMap(([, indexes]) => indexes);
}
