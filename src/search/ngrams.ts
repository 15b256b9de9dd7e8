/**
 * Splits names into the n-grams under which FTS5 lists them. An n-gram has two or three code points, so
 * a query of that length is one itself.
 */
import { hasCodePoints } from "../domain/text.ts";
import { SPELLING_END, TRANSLITERATED } from "./fold.ts";
import { keysOfName } from "./keys/keys.ts";
import { dividedSpellings } from "./loose.ts";
import { wordStartsOf } from "./tiers.ts";
import { DIVIDER, wordsIn } from "./words.ts";

// Folding drops control characters, so no name contains these marks.
/** Precedes the first two and the first three code points of a name. */
export const START = "\u0091";
/** Precedes the first two and the first three code points from the start of a later word on. */
export const WORD = "\u0092";
/** Precedes the last code point and then the one before it, and follows a name of up to three. */
export const END = "\u0093";
/** Lists the names that contain letters that are also spelled in Latin letters. */
export const LATIN = "\u0094";
/** Lists the names that also contain Latin letters. */
export const MIXED = "\u0095";
/** Precedes the first three code points of a word whose letters something divides. */
export const DIVIDED_START = "\u0096";
/** Precedes three code points that something divides. */
export const DIVIDED = "\u0097";
/** Precedes the first three code points of a word of a key. */
export const KEY_START = "\u0098";
/** Precedes three code points of a key. */
export const KEY = "\u0099";

/** FTS5 splits n-grams here. No spelling has a line feed. */
export const SEPARATOR = "\n";

/** Returns the n-grams of all spellings of a name (`folded`), as the text that FTS5 indexes. */
export function ngramsOf({ folded, name }: { folded: string; name: string }): string {
  const spellings = folded.split(SPELLING_END);
  const ngrams = spellings.map(ngramsOfSpelling).join("") + looseNgramsOf(folded, name);
  if (folded.search(TRANSLITERATED) < 0) return ngrams;
  const scripts = spellings.some(isMixed) ? LATIN + SEPARATOR + MIXED : LATIN;
  return ngrams + scripts + SEPARATOR;
}

/** Whether the Latin spelling of a text also has letters that the text has itself. */
export function isMixed(text: string): boolean {
  return /[a-z]/.test(text) && text.search(TRANSLITERATED) >= 0;
}

function ngramsOfSpelling(spelling: string): string {
  if (spelling === "") return "";
  let ngrams = "";
  let previous = "";
  let last = "";
  for (const point of spelling) {
    const pair = last + point + SEPARATOR;
    if (last !== "") ngrams += pair;
    if (previous !== "") ngrams += previous + pair;
    previous = last;
    last = point;
  }
  for (const start of wordStartsOf(spelling)) {
    if (start > 0) ngrams += beginningsOf(WORD, spelling.slice(start));
  }
  if (isNgram(spelling)) ngrams += START + spelling + END + SEPARATOR;
  return ngrams + beginningsOf(START, spelling) + END + last + previous + SEPARATOR;
}

/** Returns the n-grams that only loose spellings have. */
function looseNgramsOf(folded: string, name: string): string {
  let ngrams = "";
  for (const spelling of dividedSpellings(folded)) {
    if (DIVIDER.test(spelling)) ngrams += dividedNgramsOf(wordsIn(spelling));
  }
  const keys = keysOfName(name);
  for (const key of keys) {
    // Most keys of a name end with that of the last word.
    const isPart = keys.some((other) => other.length > key.length && other.endsWith(key));
    ngrams += ngramsOfKey(key, isPart);
  }
  return ngrams;
}

/** Returns the n-grams of joined words that no word has itself. */
function dividedNgramsOf(words: string[]): string {
  let ngrams = "";
  let previous = "";
  let last = "";
  let isPreviousStart = false;
  let isLastStart = false;
  for (const word of words) {
    let isStart = true;
    for (const point of word) {
      if (previous !== "" && (isLastStart || isStart)) {
        const ngram = previous + last + point + SEPARATOR;
        ngrams += DIVIDED + ngram;
        if (isPreviousStart) ngrams += DIVIDED_START + ngram;
      }
      previous = last;
      isPreviousStart = isLastStart;
      last = point;
      isLastStart = isStart;
      isStart = false;
    }
  }
  return ngrams;
}

/** Returns the n-grams of a key, or only the first one. No query has a key that is shorter. */
function ngramsOfKey(key: string, isPart: boolean): string {
  let ngrams = "";
  let previous = "";
  let last = "";
  for (const point of key) {
    if (previous !== "") {
      const ngram = previous + last + point + SEPARATOR;
      if (ngrams === "") ngrams = KEY_START + ngram;
      if (isPart) return ngrams;
      ngrams += KEY + ngram;
    }
    previous = last;
    last = point;
  }
  return ngrams;
}

function beginningsOf(mark: string, text: string): string {
  const [first = "", second = "", third = ""] = text;
  const pair = mark + first + second;
  return pair + SEPARATOR + pair + third + SEPARATOR;
}

/** Whether a query of this length is looked up as it is, so that all names found match it. */
export const isNgram = (query: string) => !hasCodePoints(query, 4);

/** Returns all n-grams of three code points, or the text itself if it is shorter. */
export function trigramsOf(text: string): string[] {
  const points = [...text];
  const count = Math.max(1, points.length - 2);
  return Array.from({ length: count }, (_, at) => points.slice(at, at + 3).join(""));
}
