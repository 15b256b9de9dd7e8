/**
 * Folded names, packed: a million take 40 MB, and as objects several times as much. Pure.
 */
import { hasBit, setBit } from "./bits.ts";
import { isWordStart } from "./rank.ts";

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
  text: Uint8Array;
  /** A bit for each byte of the text at which a word starts that is not its name's first. */
  laterWords: Uint8Array;
  /** Where each name starts in it. */
  starts: Uint32Array;
  ids: Float64Array;
  weights: Float64Array;
}

/** Takes so many names in, and in the end puts them in their order. */
export function packNames(count: number) {
  let size = 0;
  let end = 0;
  let text = new Uint8Array(FIRST_BYTES * count);
  let laterWords = new Uint8Array(text.length >> 3);
  const starts = new Uint32Array(count);
  const ids = new Float64Array(count);
  const weights = new Float64Array(count);
  const utf8 = new TextEncoder();

  /** What is one unit of a string has three bytes at most. */
  function makeRoom(units: number): void {
    if (end + 3 * units < text.length) return;
    const length = Math.ceil(1.5 * text.length) + 3 * units + 8;
    text = enlarge(text, length);
    laterWords = enlarge(laterWords, length >> 3);
  }

  function markLaterWords(folded: string): void {
    let place = end;
    let wasPart = true;
    for (let at = 0; at < folded.length; ) {
      const codePoint = folded.codePointAt(at) ?? 0;
      if (!wasPart && isWordStart(folded, at)) setBit(laterWords, place);
      // Of all other characters it takes a look back.
      wasPart = isPlainPart(codePoint);
      place += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
      at += codePoint < 0x10000 ? 1 : 2;
    }
  }

  return {
    add(id: number, weight: number, folded: string): void {
      starts[size] = end;
      ids[size] = id;
      weights[size++] = weight;
      makeRoom(folded.length);
      markLaterWords(folded);
      for (let at = 0; at < folded.length; at++) {
        const unit = folded.charCodeAt(at);
        if (unit > 0x7f) {
          end += utf8.encodeInto(folded.slice(at), text.subarray(end)).written;
          break;
        }
        text[end++] = unit;
      }
      text[end++] = NAME_END;
    },
    finish(): FoldedNames {
      const names = {
        text: new Uint8Array(end),
        laterWords: new Uint8Array((end >> 3) + 1),
        starts: new Uint32Array(count),
        ids: new Float64Array(count),
        weights: new Float64Array(count),
      };
      let place = 0;
      orderByWeight(weights).forEach((from, to) => {
        names.starts[to] = place;
        names.ids[to] = ids[from] ?? 0;
        names.weights[to] = weights[from] ?? 0;
        let at = (starts[from] ?? 0) - 1;
        do {
          at++;
          names.text[place] = text[at] ?? 0;
          if (hasBit(laterWords, at)) setBit(names.laterWords, place);
          place++;
        } while (text[at] !== NAME_END);
      });
      return names;
    },
  };
}

function enlarge(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}

/** Whether it is a letter or digit of ASCII, after which no word starts. */
function isPlainPart(codePoint: number): boolean {
  return (codePoint >= 0x61 && codePoint <= 0x7a) || (codePoint >= 0x30 && codePoint <= 0x39);
}

/** The indexes of `weights`, lightest first; of the same weight, in their order. */
function orderByWeight(weights: Float64Array): Uint32Array {
  const next = new Map<number, number>();
  for (const weight of weights) next.set(weight, (next.get(weight) ?? 0) + 1);
  let start = 0;
  for (const [weight, count] of [...next].sort(([one], [other]) => one - other)) {
    next.set(weight, start);
    start += count;
  }
  const order = new Uint32Array(weights.length);
  weights.forEach((weight, at) => {
    const place = next.get(weight) ?? 0;
    next.set(weight, place + 1);
    order[place] = at;
  });
  return order;
}
