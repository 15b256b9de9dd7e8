/**
 * Ranking: in which tier a folded name matches a folded query. Pure; inside a tier the snapshot's
 * own order decides.
 */
import { SPELLING_END } from "./spellings.ts";

/**
 * A query of more code points matches nothing: no name has over 200, and each comes apart into four
 * at most. Normalization takes time with the square of a run of marks: 2 ms for 800, 20 s for 128 KB.
 */
export const MAX_QUERY_CODE_POINTS = 800;

/** 1 equal, 2 prefix, 3 at a word start, 4 anywhere, 5 every word somewhere. */
export type Tier = 1 | 2 | 3 | 4 | 5;

/** The words a tier 5 match needs, or none when the query cannot match that way. */
export function wordsOf(query: string): string[] {
  const words = query.split(" ");
  return words.length > 1 && words.every((word) => hasCodePoints(word, 2))
    ? [...new Set(words)]
    : [];
}

/** The first of the tiers 1 to 4 in which a name matches in any of its spellings, if there is one. */
export function tierOf(spellings: string, query: string): Tier | undefined {
  let at = spellings.indexOf(query);
  if (at < 0) return undefined;
  let best: Tier = 4;
  for (; at >= 0; at = spellings.indexOf(query, at + 1)) {
    if (isSpellingEnd(spellings, at - 1)) {
      if (isSpellingEnd(spellings, at + query.length)) return 1;
      best = 2;
    } else if (best === 4 && isWordStart(spellings, at)) best = 3;
  }
  return best;
}

/** Whether a name has all the words in one of its spellings: tier 5. */
export function hasWords(spellings: string, words: string[]): boolean {
  const hasAll = (spelling: string) => words.every((word) => spelling.includes(word));
  return hasAll(spellings) && spellings.split(SPELLING_END).some(hasAll);
}

/** Whether a place is between two spellings, or outside all of them. */
function isSpellingEnd(spellings: string, at: number): boolean {
  return at < 0 || at >= spellings.length || spellings[at] === SPELLING_END;
}

/**
 * Where a word starts: a letter or digit, at the beginning or after a character that is neither. Marks
 * belong to the letter before them, so the look back passes over them.
 */
const WORD_START = /(?<![\p{L}\p{N}]\p{M}*)[\p{L}\p{N}]/gu;
const WORD_START_HERE = new RegExp(WORD_START, "uy");

/** The code units at which words start. Without the objects of matches: of long names they are gigabytes. */
export function wordStartsOf(name: string): number[] {
  const starts: number[] = [];
  WORD_START.lastIndex = 0;
  while (WORD_START.test(name)) {
    const at = WORD_START.lastIndex - 1;
    starts.push(isSecondHalf(name, at) ? at - 1 : at);
  }
  return starts;
}

export function isWordStart(name: string, at: number): boolean {
  WORD_START_HERE.lastIndex = at;
  return WORD_START_HERE.test(name);
}

export function isTooLong(query: string): boolean {
  return hasCodePoints(query, MAX_QUERY_CODE_POINTS + 1);
}

/** Whether `text` has at least `count` code points. */
export function hasCodePoints(text: string, count: number): boolean {
  if (text.length < count) return false;
  return text.length >= 2 * count || [...text].length >= count;
}

/** How many code points well-formed text has; an array of them would take fifty bytes for each. */
export function codePointsOf(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if (!isSecondHalf(text, at)) count++;
  }
  return count;
}

/** Whether a code point began one code unit before. */
function isSecondHalf(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
