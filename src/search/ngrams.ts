/**
 * Splits names into the n-grams to list, and queries into the n-grams to look up. A query of up to
 * 16 code points is a frequent n-gram or begins with a rare one. ARCHITECTURE.md has an example.
 */
import { SPELLING_END } from "./fold.ts";
import { isWordStart } from "./tiers.ts";
import { MAX_NGRAM, MAX_RARE_LISTS, OVERLAP_STEP } from "./tuning.ts";

// Markers around n-grams, for the start of a name, the start of a later word and the end of a name.
// Folding drops these characters, so no name contains them.
export const START = "\u0091";
export const WORD = "\u0092";
export const END = "\u0093";
/** Separates the n-grams of a name in FTS5. Folded names contain no line breaks. */
export const SEPARATOR = "\n";

export type Boundary = typeof START | typeof WORD | "";

/** The beginning of a text is enough to find candidates, which are compared with the whole text. */
const COVERED = /^.{0,400}/su;

type IsFrequent = (ngram: string) => boolean;

/** The result may contain duplicates. */
export function ngramsOf(spellings: string, isFrequent: IsFrequent): string[] {
  const ngrams: string[] = [];
  const list = (ngram: string) => ngrams.push(ngram);
  for (const name of spellings.split(SPELLING_END)) {
    extendWhileFrequent(START, name + END, 0, isFrequent, list);
    for (let at = 0; at < name.length; at += widthAt(name, at)) {
      extendWhileFrequent("", name, at, isFrequent, list);
      if (at > 0 && isWordStart(name, at)) extendWhileFrequent(WORD, name, at, isFrequent, list);
    }
  }
  return ngrams;
}

/**
 * Returns n-grams of `text`, which every name with the text after the boundary also has. They are
 * rare if possible. Otherwise they overlap, so that a name with all of them contains the text or
 * repeats 12 code points.
 */
export function coveringNgrams(boundary: Boundary, text: string, isFrequent: IsFrequent): string[] {
  const first = extendWhileFrequent(boundary, text, 0, isFrequent);
  const ngrams = isFrequent(first) ? [] : [first];
  const [inside = ""] = COVERED.exec(text.replace(END, "")) ?? [];
  let from = first.length - boundary.length;
  while (from < inside.length && ngrams.length < MAX_RARE_LISTS) {
    const next = extendWhileFrequent("", inside, from, isFrequent);
    if (!isFrequent(next)) ngrams.push(next);
    from += next.length;
  }
  return ngrams.length > 0 ? ngrams : [first, ...overlappingNgrams(inside, isFrequent)];
}

/** If any of the n-grams is rare, returns only the shortest rare prefix of the first such one. */
function overlappingNgrams(text: string, isFrequent: IsFrequent): string[] {
  const characters = [...text];
  const last = characters.length - MAX_NGRAM;
  const ngrams: string[] = [];
  for (let at = 0; at < last; ) {
    at = Math.min(at + OVERLAP_STEP, last);
    const ngram = characters.slice(at, at + MAX_NGRAM).join("");
    if (!isFrequent(ngram)) return [extendWhileFrequent("", ngram, 0, isFrequent)];
    ngrams.push(ngram);
  }
  return ngrams;
}

/** Returns the shortest rare n-gram at `from`, or the longest one. Visits each one it tries. */
function extendWhileFrequent(
  boundary: Boundary,
  text: string,
  from: number,
  isFrequent: IsFrequent,
  visit?: (ngram: string) => void,
): string {
  let ngram: string = boundary;
  let to = from;
  for (let length = 1; to < text.length && length <= MAX_NGRAM; length++) {
    to += widthAt(text, to);
    ngram = boundary + text.slice(from, to);
    visit?.(ngram);
    if (!isFrequent(ngram)) break;
  }
  return ngram;
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
