/** In which of tiers 1 to 5 a name matches a query, and where its words are. README.md has the rules. */
import { hasCodePoints } from "../domain/text.ts";
import { SPELLING_END } from "./fold.ts";

/** The tiers in which a name contains the whole query. In tier 5, it contains the words. */
export type WholeTier = 1 | 2 | 3 | 4;

/** Returns the words that a name needs for tier 5, or none if the query cannot match in tier 5. */
export function requiredWordsOf(query: string): string[] {
  const words = query.split(" ");
  const canMatch = words.length > 1 && words.every((word) => hasCodePoints(word, 2));
  return canMatch ? [...new Set(words)] : [];
}

/** Returns the best of tiers 1 to 4 in which a spelling matches, or undefined if none does. */
export function tierOf(folded: string, query: string): WholeTier | undefined {
  let at = folded.indexOf(query);
  if (at < 0) return undefined;
  let best: WholeTier = 4;
  for (; at >= 0; at = folded.indexOf(query, at + 1)) {
    if (isOutside(folded, at - 1)) {
      if (isOutside(folded, at + query.length)) return 1;
      best = 2;
    } else if (best === 4 && isWordStart(folded, at)) {
      best = 3;
    }
  }
  return best;
}

/** Whether at least one spelling of a name contains all the words (tier 5). */
export function hasWords(folded: string, words: string[]): boolean {
  const hasAll = (spelling: string) => words.every((word) => spelling.includes(word));
  return hasAll(folded) && folded.split(SPELLING_END).some(hasAll);
}

/** Whether `at` is outside all spellings: before, between or after them. */
function isOutside(folded: string, at: number): boolean {
  return at < 0 || at >= folded.length || folded[at] === SPELLING_END;
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

export function isWordStart(name: string, at: number): boolean {
  WORD_START_HERE.lastIndex = at;
  return WORD_START_HERE.test(name);
}

/** Letters, digits and marks. Everything else divides words. */
const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
export const wordsIn = (text: string): string[] => text.match(WORDS) ?? [];

/** Returns a text without what divides its words. */
export const compactOf = (text: string) => wordsIn(text).join("");
