/**
 * Compares a name with a query: in which tier they match, and by how many slips they differ. README.md
 * has the rules.
 */
import { hasCodePoints } from "../domain/text.ts";
import { fold, MAX_QUERY_CODE_POINTS, SPELLING_END, TRANSLITERATED } from "./fold.ts";
import { keysOfName, keysOfQuery, spellingsInUse } from "./keys/keys.ts";
import { compactOf, isWordStart, wordStartsOf } from "./words.ts";

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

/** How short a loose spelling of a query may be. */
const MIN_LOOSE_CODE_POINTS = 3;

/**
 * The texts by which a query finds names of tier 6, at the start of a word. In these texts, nothing
 * divides words, or a name is in Latin letters as passports, laws or friends spell it.
 */
export interface LooseQuery {
  /** Compared with the spellings of names. */
  compact: string[];
  /** Compared with the keys of names. */
  keys: string[];
}

/** Takes the spellings of a query, the first of which is the query itself. */
export function spellLoosely(query: string, spellings: string[]): LooseQuery {
  const [folded = ""] = spellings;
  const isLatin = folded.search(TRANSLITERATED) < 0;
  return {
    compact: compactForms([...spellings, ...(isLatin ? [] : spellingsInUse(query))]),
    keys: isLatin && /[a-z]/.test(folded) ? keysOfQuery(folded).filter(isLongEnough) : [],
  };
}

function compactForms(texts: string[]): string[] {
  return [...new Set(texts.map((text) => compactOf(fold(text))))].filter(isLongEnough);
}

const isLongEnough = (text: string) => hasCodePoints(text, MIN_LOOSE_CODE_POINTS);

/** Returns the spellings of a name that are compared without dividers: its own and its Latin one. */
export function dividedSpellings(folded: string): string[] {
  const [own = "", ...others] = folded.split(SPELLING_END);
  const last = others.at(-1);
  return last === undefined || own.search(TRANSLITERATED) < 0 ? [own] : [own, last];
}

/** Whether one of the texts begins with the query at the start of a word. */
function beginsWord(texts: string[], compactQuery: string): boolean {
  return texts.some(
    (text) =>
      compactOf(text).includes(compactQuery) &&
      wordStartsOf(text).some((start) => compactOf(text.slice(start)).startsWith(compactQuery)),
  );
}

export function matchesLoosely(
  { folded, name }: { folded: string; name: string },
  { compact, keys }: LooseQuery,
): boolean {
  const spellings = dividedSpellings(folded);
  if (compact.some((text) => beginsWord(spellings, text))) return true;
  if (keys.length === 0) return false;
  const keysOfThis = keysOfName(name);
  return keys.some((query) => keysOfThis.some((key) => key.startsWith(query)));
}

/**
 * Returns how many slips a query or a spelling of it may have. Too many names are near a shorter one, and
 * a longer one takes too long: 400 times ﷺ fold to 7,200 letters.
 */
export function maxSlipsFor({ length }: string[]): number {
  if (length < 4 || length > MAX_QUERY_CODE_POINTS) return 0;
  return length < 8 ? 1 : 2;
}

/** Returns the number of slips between two texts, or Infinity if there are more than `maxSlips`. */
export function countSlips(a: string[], b: string[], maxSlips: number): number {
  if (Math.abs(a.length - b.length) > maxSlips) return Infinity;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  const rest = Math.min(a.length, b.length) - start;
  while (end < rest && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const x = a.slice(start, a.length - end);
  const y = b.slice(start, b.length - end);
  if (x.length + y.length === 0) return 0;
  // Each slip concerns at most two neighbouring letters.
  if (maxSlips === 0 || (maxSlips === 1 && x.length + y.length > 4)) return Infinity;

  const counts = [
    countSlips(x.slice(1), y.slice(1), maxSlips - 1),
    countSlips(x.slice(1), y, maxSlips - 1),
    countSlips(x, y.slice(1), maxSlips - 1),
  ];
  const isSwap = x[0] === y[1] && x[1] === y[0];
  if (isSwap) counts.push(countSlips(x.slice(2), y.slice(2), maxSlips - 1));
  return 1 + Math.min(...counts);
}
