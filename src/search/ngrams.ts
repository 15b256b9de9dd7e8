/**
 * Splits names into the n-grams under which FTS5 lists them. An n-gram has two or three code points, so
 * a query of that length is one itself, and a single code point is the beginning of some.
 */
import { hasCodePoints } from "../domain/text.ts";
import { SPELLING_END, type SpelledName, TRANSLITERATED } from "./fold.ts";
import { keysOfName } from "./keys/keys.ts";
import { dividedSpellings } from "./loose.ts";
import { TermWriter } from "./terms.ts";
import { wordStartsOf, wordsIn } from "./tiers.ts";

// Folding drops control characters, so no name contains these marks.
/** Precedes the first two and the first three code points of a name. */
export const START = "\u0091";
/** Precedes the first two and the first three code points from the start of a later word on. */
export const WORD = "\u0092";
/** Precedes the last code point and then the one before it, and follows a name of up to three. */
export const END = "\u0093";
/** Lists the names that have letters of other scripts, which are also spelled in Latin letters. */
export const OTHER_SCRIPT = "\u0094";
/** Lists the names among them that also have Latin letters. */
export const MIXED_SCRIPTS = "\u0095";
/** Precedes the first three code points of a word whose letters something divides. */
export const DIVIDED_START = "\u0096";
/** Precedes three code points that something divides. */
export const DIVIDED = "\u0097";
/** Precedes the first three code points of a word of a key. */
export const KEY_START = "\u0098";
/** Precedes three code points of a key. */
export const KEY = "\u0099";
/** Precedes two or three code points that a spelling has twice in a row. */
const REPEATED = "\u009a";
/** Lists the names at which a long search can pause, which are those at regular places in the order. */
export const SLICE = "\u009b";

const terms = new TermWriter();

/** Returns the n-grams of all spellings of a name, as the text that FTS5 indexes. */
export function ngramsOf({ folded, name }: SpelledName): string {
  const spellings = folded.split(SPELLING_END);
  for (const spelling of spellings) {
    if (spelling !== "") addSpelling(spelling);
  }
  addLoose(folded, name);
  if (folded.search(TRANSLITERATED) >= 0) {
    terms.addText(OTHER_SCRIPT);
    if (spellings.some(isMixed)) terms.addText(MIXED_SCRIPTS);
  }
  return terms.finish();
}

/** Whether the Latin spelling of a text also has letters that the text has itself. */
export function isMixed(text: string): boolean {
  return /[a-z]/.test(text) && text.search(TRANSLITERATED) >= 0;
}

function addSpelling(spelling: string): void {
  const points = terms.open(spelling);
  terms.addRuns(2);
  terms.addRuns(3);
  addBeginnings(START, 0);
  for (const at of wordStartsOf(spelling)) {
    if (at > 0) addBeginnings(WORD, pointAt(spelling, at, points));
  }
  terms.addEnd(END);
  for (const ngram of listRepeated(spelling)) terms.addText(ngram);
  if (isNgram(spelling)) terms.addText(START + spelling + END);
}

/** Adds the n-grams that only loose spellings have. */
function addLoose(folded: string, name: string): void {
  for (const spelling of dividedSpellings(folded)) {
    const words = wordsIn(spelling);
    if (words.length > 1) addDivided(words);
  }
  for (const key of keysOfName(name)) addKey(key);
}

/** Adds the n-grams of joined words that no word has itself. */
function addDivided(words: string[]): void {
  const joined = words.join("");
  const points = terms.open(joined);
  let start = 0;
  let at = 0;
  for (const word of words) {
    at += word.length;
    const next = pointAt(joined, at, points);
    for (let from = Math.max(start, next - 2); from < next && from + 3 <= points; from++) {
      terms.add(from, from + 3, DIVIDED);
      if (from === start) terms.add(from, from + 3, DIVIDED_START);
    }
    start = next;
  }
}

/** Returns the number of code points before a code unit. The whole text has `points` of them. */
function pointAt(text: string, at: number, points: number): number {
  return points === text.length ? at : [...text.slice(0, at)].length;
}

/** Adds the n-grams of a key. No query has a key that is shorter than one of them. */
function addKey(key: string): void {
  if (terms.open(key) < 3) return;
  terms.add(0, 3, KEY_START);
  terms.addRuns(3, KEY);
}

/** Finds two or three code points that occur twice in a row, as in "kiki" and "sansan". */
const REPEATS = /(?=(..|...)\1)/gsu;

export function listRepeated(text: string): string[] {
  // Most names repeat nothing.
  if (text.search(REPEATS) < 0) return [];
  return Array.from(text.matchAll(REPEATS), ([, part]) => REPEATED + part);
}

function addBeginnings(mark: string, start: number): void {
  terms.add(start, start + 2, mark);
  terms.add(start, start + 3, mark);
}

/** Whether a query of this length is looked up as it is, so that all names found match it. */
export const isNgram = (query: string) => !hasCodePoints(query, 4);

/** Returns all n-grams of three code points, or the text itself if it is shorter. */
export function trigramsOf(text: string): string[] {
  const points = [...text];
  const count = Math.max(1, points.length - 2);
  return Array.from({ length: count }, (_, at) => points.slice(at, at + 3).join(""));
}
