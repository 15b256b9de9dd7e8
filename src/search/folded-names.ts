/** Packs folded names into typed arrays: a million take 40 MB, far less than as objects. */
import { type Bits, hasBit, setBit } from "./bits.ts";
import { SPELLING_END } from "./fold.ts";
import { wordStartsOf } from "./tiers.ts";

/** Ends each spelling. Never occurs in UTF-8, and sorts between ASCII and all other characters. */
export const NAME_END = 0xc1;
const SPELLING_END_BYTE = SPELLING_END.charCodeAt(0);

/** Names are collected in chunks, each of which has room for any single name. */
const CHUNK_BYTES = 1 << 20;

/** Names in ascending order of their sort keys. Equal keys keep the order of insertion. */
export interface FoldedNames {
  /**
   * All spellings of all names in UTF-8, each followed by {@link NAME_END}. Posting lists are built
   * twice as fast when neighbouring names are close in memory.
   */
  text: Buffer;
  /** One bit per byte of `text`, set if a word starts at that byte but no spelling does. */
  laterWords: Bits;
  /** The offset of each name in `text`, followed by the length of `text`. */
  starts: Uint32Array;
  ids: Float64Array;
  sortKeys: Float64Array;
}

export class NamePacker {
  readonly #chunks: Pick<FoldedNames, "text" | "laterWords">[] = [];
  /** The offset of each name, as if all chunks were one buffer. */
  readonly #starts: Uint32Array;
  readonly #ids: Float64Array;
  readonly #sortKeys: Float64Array;
  #count = 0;
  #bytes = 0;
  /** Where the last name ends, as an offset in the last chunk. */
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
    // Each UTF-16 code unit takes at most three bytes in UTF-8.
    if (last && this.#end + 3 * spellings.length + 1 <= CHUNK_BYTES) return last;
    const laterWords = new Uint32Array(CHUNK_BYTES / 32);
    const chunk = { text: Buffer.alloc(CHUNK_BYTES), laterWords };
    this.#chunks.push(chunk);
    this.#end = 0;
    return chunk;
  }

  finish(): FoldedNames {
    const groups = Map.groupBy(this.#sortKeys.keys(), (at) => this.#sortKeys[at] ?? 0);
    const order = [...groups].sort(([a], [b]) => a - b).flatMap(([, indexes]) => indexes);
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

/** Returns all spellings of the name at index `at` in UTF-8, separated by {@link SPELLING_END}. */
export function spellingsAt({ text, starts }: FoldedNames, at: number): Buffer {
  const spellings = text.subarray(starts[at], (starts[at + 1] ?? 1) - 1);
  if (!spellings.includes(NAME_END)) return spellings;
  return Buffer.from(spellings.map((byte) => (byte === NAME_END ? SPELLING_END_BYTE : byte)));
}
