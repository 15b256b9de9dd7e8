/** Packs folded names into one buffer: a million take 20 MB, far less than as objects. */
import { type Bits, setBit } from "./bits.ts";
import { SPELLING_END } from "./fold.ts";
import { wordStartsOf } from "./tiers.ts";

/** Ends each spelling. Never occurs in UTF-8, and sorts between ASCII and all other characters. */
export const NAME_END = 0xc1;
const SPELLING_END_BYTE = SPELLING_END.charCodeAt(0);

/** Names in the order of results within a tier. */
export interface PackedNames {
  /**
   * All spellings of all names in UTF-8, each followed by {@link NAME_END}. Posting lists are built
   * twice as fast when neighbouring names are close in memory.
   */
  text: Buffer;
  /** One bit per byte of `text`, set if a word starts at that byte but no spelling does. */
  laterWords: Bits;
  /** The offset of each name in `text`, followed by the length of `text`. */
  starts: Uint32Array;
}

export class NamePacker {
  readonly names: PackedNames;
  #count = 0;

  /** `bytes` is the length of all the names in UTF-8, each with one more byte. */
  constructor(count: number, bytes: number) {
    this.names = {
      text: Buffer.alloc(bytes),
      laterWords: new Uint32Array((bytes >> 5) + 1),
      starts: new Uint32Array(count + 1),
    };
  }

  add(spellings: string): void {
    const { text, laterWords, starts } = this.names;
    const from = starts[this.#count] ?? 0;
    let word = from;
    let last = 0;
    for (const start of wordStartsOf(spellings)) {
      word += Buffer.byteLength(spellings.slice(last, start));
      if (start > 0 && spellings[start - 1] !== SPELLING_END) setBit(laterWords, word);
      last = start;
    }
    const end = from + text.write(spellings, from);
    for (let at = from; at < end; at++) if (text[at] === SPELLING_END_BYTE) text[at] = NAME_END;
    text[end] = NAME_END;
    starts[++this.#count] = end + 1;
  }
}
