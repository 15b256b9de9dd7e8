/**
 * N-grams: the parts of folded names that the index lists, and the parts of a query to look up in
 * it. Pure: the caller knows which n-grams are frequent. ARCHITECTURE.md shows an example.
 *
 * An n-gram is *frequent* when it occurs in too many names to compare them all with a query. Every
 * other n-gram is *rare*. For each position of a name, the index lists the one-character n-gram
 * that starts there. While that n-gram is frequent, the index also lists the one that is a
 * character longer. So the posting list of every rare n-gram is short, and a query either is an
 * n-gram or begins with a rare one (unless it is longer than any n-gram). Which n-grams are
 * frequent affects only how fast a search is, never what it finds.
 */
import { SPELLING_END } from "./spellings.ts";
import { isWordStart } from "./tiers.ts";

/**
 * Boundary markers: before an n-gram that starts a name, before one that starts a later word, and
 * after the end of a name. Folding drops these characters, so no name contains them.
 */
export const START = "\u0091";
export const WORD = "\u0092";
export const END = "\u0093";
/** Separates the n-grams of a name for FTS5. Folded names have no line breaks. */
export const SEPARATOR = "\n";

export type Boundary = typeof START | typeof WORD | "";

/** The most code points in an n-gram, so that a thousand equal long names cost little. */
export const MAX_NGRAM = 16;

/** The most n-grams to look up for one text. More would hardly reduce the candidates. */
const MAX_COVERING = 3;

/** If a text has no rare n-gram, its n-grams start four code points apart and overlap by 12. */
const OVERLAP_STEP = 4;

type IsFrequent = (ngram: string) => boolean;

/** All n-grams of a name in all its spellings. The same n-gram may occur more than once. */
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
 * The n-grams to look up for a text behind a boundary. Every name with the text is in all their
 * posting lists. All of them are rare, unless the text has only frequent n-grams. Those overlap, so
 * that a name in all their lists has the text, or else repeats 12 code points.
 */
export function coveringNgrams(boundary: Boundary, text: string, isFrequent: IsFrequent): string[] {
  const first = extendWhileFrequent(boundary, text, 0, isFrequent);
  const ngrams = isFrequent(first) ? [] : [first];
  const inside = text.replace(END, "");
  let from = first.length - boundary.length;
  while (from < inside.length && ngrams.length < MAX_COVERING) {
    const next = extendWhileFrequent("", inside, from, isFrequent);
    if (!isFrequent(next)) ngrams.push(next);
    from += next.length;
  }
  return ngrams.length > 0 ? ngrams : [first, ...overlappingNgrams(inside, isFrequent)];
}

/** N-grams of full length that start {@link OVERLAP_STEP} apart, or only the first rare one. */
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

/**
 * Returns the shortest rare n-gram that starts at `from`, or the longest one if all are frequent.
 * Calls `visit` with each n-gram on the way.
 */
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
