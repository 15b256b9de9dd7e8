/**
 * Folded names, packed: a million take 40 MB, and as objects several times as much. Pure.
 */
import { type Bits, setBit } from "./bits.ts";
import { wordStartsOf } from "./rank.ts";

/** Follows each name; in no UTF-8, and as a byte between those that ASCII and all else begin with. */
export const NAME_END = 0xc1;

/** The bytes that a name takes as a rule. */
const FIRST_BYTES = 18;

/**
 * By weight, and of one weight in the order in which they came. The text, too: it is walked in that order,
 * and of a million names the posting lists take half as long as if each step went elsewhere in memory.
 */
export interface FoldedNames {
  /** The UTF-8 of name after name. */
  text: Buffer;
  /** A bit for each byte of the text at which a word starts that is not its name's first. */
  laterWords: Bits;
  /** Where each name starts in it. */
  starts: Uint32Array;
  ids: Float64Array;
  weights: Float64Array;
}

/** Takes so many names in, and in the end puts them in their order. */
export function packNames(count: number) {
  let size = 0;
  let end = 0;
  let text = Buffer.alloc(FIRST_BYTES * count);
  const starts = new Uint32Array(count);
  const ids = new Float64Array(count);
  const weights = new Float64Array(count);

  return {
    add(id: number, weight: number, folded: string): void {
      starts[size] = end;
      ids[size] = id;
      weights[size++] = weight;
      // What is one unit of a string has three bytes at most.
      const most = end + 3 * folded.length + 1;
      if (most > text.length) text = Buffer.concat([text], Math.ceil(1.5 * most));
      end += text.write(folded, end);
      text[end++] = NAME_END;
    },
    finish(): FoldedNames {
      const order = orderByWeight(weights);
      const names = {
        text: Buffer.alloc(end),
        laterWords: new Uint32Array((end >> 5) + 1),
        starts: new Uint32Array(count),
        ids: Float64Array.from(order, (from) => ids[from] ?? 0),
        weights: Float64Array.from(order, (from) => weights[from] ?? 0),
      };
      let place = 0;
      order.forEach((from, to) => {
        names.starts[to] = place;
        const start = starts[from] ?? 0;
        const end = text.indexOf(NAME_END, start);
        const folded = text.toString("utf8", start, end);
        for (const at of wordStartsOf(folded)) {
          if (at > 0) setBit(names.laterWords, place + Buffer.byteLength(folded.slice(0, at)));
        }
        place += text.copy(names.text, place, start, end + 1);
      });
      return names;
    },
  };
}

/** The indexes of `weights`, lightest first; of the same weight, in their order. */
function orderByWeight(weights: Float64Array): number[] {
  const groups = Map.groupBy(weights.keys(), (at) => weights[at] ?? 0);
  return [...groups].sort(([one], [other]) => one - other).flatMap(([, indexes]) => indexes);
}
