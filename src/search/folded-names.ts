/**
 * Folded names, packed: a million take 40 MB, and as objects several times as much. Pure.
 */
import { type Bits, hasBit, setBit } from "./bits.ts";
import { wordStartsOf } from "./rank.ts";
import { SPELLING_END } from "./spellings.ts";

/** Follows each spelling; in no UTF-8, and as a byte between those that ASCII and all else begin with. */
export const NAME_END = 0xc1;
const SPELLING_END_BYTE = SPELLING_END.charCodeAt(0);

/** Names are taken in by pieces of this size, so that no memory is copied as they grow. No name has more. */
const PIECE_BYTES = 1 << 20;

/**
 * By weight, and of one weight in the order in which they came. The text, too: it is walked in that order,
 * and of a million names the posting lists take half as long as if each step went elsewhere in memory.
 */
export interface FoldedNames {
  /** The UTF-8 of name after name, each in all its spellings. */
  text: Buffer;
  /** A bit for each byte of the text at which a word starts, but not a spelling. */
  laterWords: Bits;
  /** Where each name starts in it, and where the last one ends. */
  starts: Uint32Array;
  ids: Float64Array;
  weights: Float64Array;
}

/** Takes `count` names, and in the end puts them in their order. */
export function packNames(count: number) {
  const pieces: Pick<FoldedNames, "text" | "laterWords">[] = [];
  let size = 0;
  let end = PIECE_BYTES;
  let bytes = 0;
  /** In the pieces, one after another. */
  const starts = new Uint32Array(count);
  const ids = new Float64Array(count);
  const weights = new Float64Array(count);

  return {
    /** `folded` are the spellings of the name. */
    add(id: number, weight: number, folded: string): void {
      // A code unit of a string has three bytes at most.
      if (end + 3 * folded.length + 1 > PIECE_BYTES) {
        const laterWords = new Uint32Array(PIECE_BYTES / 32);
        pieces.push({ text: Buffer.alloc(PIECE_BYTES), laterWords });
        end = 0;
      }
      const piece = pieces.at(-1);
      if (!piece) return;
      const start = end;
      end += piece.text.write(folded, end);
      piece.text[end++] = NAME_END;
      bytes += end - start;
      let last = 0;
      let word = start;
      for (const at of wordStartsOf(folded)) {
        word += Buffer.byteLength(folded.slice(last, at));
        if (at > 0 && folded[at - 1] !== SPELLING_END) setBit(piece.laterWords, word);
        last = at;
      }
      starts[size] = (pieces.length - 1) * PIECE_BYTES + start;
      ids[size] = id;
      weights[size++] = weight;
    },
    finish(): FoldedNames {
      const order = orderByWeight(weights);
      const names = {
        text: Buffer.alloc(bytes),
        laterWords: new Uint32Array((bytes >> 5) + 1),
        starts: new Uint32Array(count + 1).fill(bytes),
        ids: Float64Array.from(order, (from) => ids[from] ?? 0),
        weights: Float64Array.from(order, (from) => weights[from] ?? 0),
      };
      let place = 0;
      order.forEach((from, to) => {
        names.starts[to] = place;
        const start = starts[from] ?? 0;
        const piece = pieces[Math.floor(start / PIECE_BYTES)];
        if (!piece) return;
        let at = start % PIECE_BYTES;
        for (let byte = 0; byte !== NAME_END; at++) {
          byte = piece.text[at] ?? NAME_END;
          if (hasBit(piece.laterWords, at)) setBit(names.laterWords, place);
          names.text[place++] = byte === SPELLING_END_BYTE ? NAME_END : byte;
        }
      });
      return names;
    },
  };
}

/** The UTF-8 of the spellings of a name, as one text. */
export function spellingsAt({ text, starts }: FoldedNames, at: number): Buffer {
  const spellings = text.subarray(starts[at], (starts[at + 1] ?? 1) - 1);
  if (!spellings.includes(NAME_END)) return spellings;
  return Buffer.from(spellings.map((byte) => (byte === NAME_END ? SPELLING_END_BYTE : byte)));
}

/** The indexes of `weights`, lightest first; of the same weight, in their order. */
function orderByWeight(weights: Float64Array): number[] {
  const groups = Map.groupBy(weights.keys(), (at) => weights[at] ?? 0);
  return [...groups].sort(([one], [other]) => one - other).flatMap(([, indexes]) => indexes);
}
