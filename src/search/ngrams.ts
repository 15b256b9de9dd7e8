/**
 * Splits names into the n-grams under which FTS5 lists them. An n-gram has two or three code points, so
 * a query of that length is one itself.
 */
import { hasCodePoints } from "../domain/text.ts";
import { SPELLING_END, TRANSLITERATED } from "./fold.ts";
import { keysOfName } from "./keys/keys.ts";
import { dividedSpellings } from "./loose.ts";
import { DIVIDER, wordStartsOf, wordsIn } from "./words.ts";

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

/** FTS5 splits n-grams here. No spelling has a line feed. */
export const SEPARATOR = "\n";

/** Returns the n-grams of all spellings of a name (`folded`), as the text that FTS5 indexes. */
export function ngramsOf({ folded, name }: { folded: string; name: string }): string {
  const ngrams = new NgramText();
  const spellings = folded.split(SPELLING_END);
  for (const spelling of spellings) {
    if (spelling !== "") addSpelling(ngrams, spelling);
  }
  addLoose(ngrams, folded, name);
  if (folded.search(TRANSLITERATED) >= 0) {
    ngrams.add(OTHER_SCRIPT);
    if (spellings.some(isMixed)) ngrams.add(MIXED_SCRIPTS);
  }
  return ngrams.toString();
}

/** Whether the Latin spelling of a text also has letters that the text has itself. */
export function isMixed(text: string): boolean {
  return /[a-z]/.test(text) && text.search(TRANSLITERATED) >= 0;
}

/**
 * Stands between the code points of an n-gram in FTS5, whose hash moves by only three bits from byte
 * to byte. Without it, all n-grams of three Latin letters share 2048 of its values, and indexing takes a
 * fifth longer.
 */
export const GAP = "-";

/** Returns an n-gram as FTS5 has it. */
export const termOf = (ngram: string) => [...ngram].join(GAP);

/** Returns the n-gram of a term of FTS5. */
export const ngramOfTerm = (term: string) => [...term].filter((_, at) => at % 2 === 0).join("");

/** The code units of the text that grows, which is one at a time. */
let units = new Uint16Array(2 ** 12);

/** The terms of n-grams as one text. Joining strings instead takes twice as long. */
class NgramText {
  #length = 0;

  /** Adds an n-gram, which consists of these code points. */
  add(...points: string[]): void {
    for (const point of points) {
      if (point === "") continue;
      this.#append(point);
      this.#append(GAP);
    }
    // Instead of the last gap.
    this.#length--;
    this.#append(SEPARATOR);
  }

  #append(part: string): void {
    if (this.#length + part.length > units.length) {
      const more = new Uint16Array(2 * units.length);
      more.set(units);
      units = more;
    }
    for (let at = 0; at < part.length; at++) units[this.#length++] = part.charCodeAt(at);
  }

  toString(): string {
    return Buffer.from(units.buffer, 0, 2 * this.#length).toString("utf16le");
  }
}

function addSpelling(ngrams: NgramText, spelling: string): void {
  let previous = "";
  let last = "";
  for (const point of spelling) {
    if (last !== "") ngrams.add(last, point);
    if (previous !== "") ngrams.add(previous, last, point);
    previous = last;
    last = point;
  }
  for (const start of wordStartsOf(spelling)) {
    if (start > 0) addBeginnings(ngrams, WORD, spelling.slice(start));
  }
  if (isNgram(spelling)) ngrams.add(START, ...spelling, END);
  addBeginnings(ngrams, START, spelling);
  ngrams.add(END, last, previous);
  for (const ngram of listRepeated(spelling)) ngrams.add(...ngram);
}

/** Adds the n-grams that only loose spellings have. */
function addLoose(ngrams: NgramText, folded: string, name: string): void {
  for (const spelling of dividedSpellings(folded)) {
    if (DIVIDER.test(spelling)) addDivided(ngrams, wordsIn(spelling));
  }
  const keys = keysOfName(name);
  for (const key of keys) {
    // Most keys of a name end with that of the last word.
    const isPart = keys.some((other) => other.length > key.length && other.endsWith(key));
    addKey(ngrams, key, isPart);
  }
}

/** Adds the n-grams of joined words that no word has itself. */
function addDivided(ngrams: NgramText, words: string[]): void {
  let previous = "";
  let last = "";
  let isPreviousStart = false;
  let isLastStart = false;
  for (const word of words) {
    let isStart = true;
    for (const point of word) {
      if (previous !== "" && (isLastStart || isStart)) {
        ngrams.add(DIVIDED, previous, last, point);
        if (isPreviousStart) ngrams.add(DIVIDED_START, previous, last, point);
      }
      previous = last;
      isPreviousStart = isLastStart;
      last = point;
      isLastStart = isStart;
      isStart = false;
    }
  }
}

/** Adds the n-grams of a key, or only the first one. No query has a key that is shorter. */
function addKey(ngrams: NgramText, key: string, isPart: boolean): void {
  const [first = "", second = "", third = ""] = key;
  if (third === "") return;
  ngrams.add(KEY_START, first, second, third);
  if (isPart) return;

  let previous = "";
  let last = "";
  for (const point of key) {
    if (previous !== "") ngrams.add(KEY, previous, last, point);
    previous = last;
    last = point;
  }
}

/** Finds two or three code points that occur twice in a row, as in "kiki" and "sansan". */
const REPEATS = /(?=(..|...)\1)/gsu;

export const listRepeated = (text: string): string[] =>
  Array.from(text.matchAll(REPEATS), ([, part]) => REPEATED + part);

function addBeginnings(ngrams: NgramText, mark: string, text: string): void {
  const [first = "", second = "", third = ""] = text;
  ngrams.add(mark, first, second);
  ngrams.add(mark, first, second, third);
}

/** Whether a query of this length is looked up as it is, so that all names found match it. */
export const isNgram = (query: string) => !hasCodePoints(query, 4);

/** Returns all n-grams of three code points, or the text itself if it is shorter. */
export function trigramsOf(text: string): string[] {
  const points = [...text];
  const count = Math.max(1, points.length - 2);
  return Array.from({ length: count }, (_, at) => points.slice(at, at + 3).join(""));
}
