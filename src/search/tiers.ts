/** Compares a folded name with a folded query. README.md has the rules. */
import { hasCodePoints } from "../domain/text.ts";
import { SPELLING_END } from "./fold.ts";

/** The tiers in which a name contains the whole query. In tier 5, it contains the words. */
export type PlaceTier = 1 | 2 | 3 | 4;

/** Returns the words that a name needs for tier 5, or none if the query cannot match in tier 5. */
export function wordsOf(query: string): string[] {
  const words = query.split(" ");
  return words.length > 1 && words.every((word) => hasCodePoints(word, 2))
    ? [...new Set(words)]
    : [];
}

/** Returns the best of tiers 1 to 4 in which a spelling matches, or undefined if none does. */
export function tierOf(spellings: string, query: string): PlaceTier | undefined {
  let at = spellings.indexOf(query);
  if (at < 0) return undefined;
  let best: PlaceTier = 4;
  for (; at >= 0; at = spellings.indexOf(query, at + 1)) {
    if (isSpellingEnd(spellings, at - 1)) {
      if (isSpellingEnd(spellings, at + query.length)) return 1;
      best = 2;
    } else if (best === 4 && isWordStart(spellings, at)) {
      best = 3;
    }
  }
  return best;
}

/** Whether at least one spelling of a name contains all the words (tier 5). */
export function hasWords(spellings: string, words: string[]): boolean {
  const hasAll = (spelling: string) => words.every((word) => spelling.includes(word));
  return hasAll(spellings) && spellings.split(SPELLING_END).some(hasAll);
}

/** Whether `at` is outside all spellings: before, between or after them. */
function isSpellingEnd(spellings: string, at: number): boolean {
  return at < 0 || at >= spellings.length || spellings[at] === SPELLING_END;
}

const WORD_START = /(?<![\p{L}\p{N}]\p{M}*)[\p{L}\p{N}]/gu;
const WORD_START_HERE = new RegExp(WORD_START, "uy");

/** Creates no RegExp match objects, which would take gigabytes of memory for all long names. */
export function wordStartsOf(name: string): number[] {
  const starts: number[] = [];
  WORD_START.lastIndex = 0;
  while (WORD_START.test(name)) {
    const at = WORD_START.lastIndex - 1;
    const isSecondHalf = (name.charCodeAt(at) & 0xfc00) === 0xdc00;
    starts.push(isSecondHalf ? at - 1 : at);
  }
  return starts;
}

function isWordStart(name: string, at: number): boolean {
  WORD_START_HERE.lastIndex = at;
  return WORD_START_HERE.test(name);
}
