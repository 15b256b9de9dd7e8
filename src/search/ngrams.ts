/**
 * Splits names into the n-grams under which FTS5 lists them. An n-gram has two or three code points, so
 * a query of that length is one itself.
 */
import { hasCodePoints } from "../domain/text.ts";
import { SPELLING_END, TRANSLITERATED } from "./fold.ts";
import { keysOfName } from "./keys/keys.ts";
import { dividedSpellings } from "./match.ts";
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
    ngrams.add("", OTHER_SCRIPT);
    if (spellings.some(isMixed)) ngrams.add("", MIXED_SCRIPTS);
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

const GAP_UNIT = GAP.charCodeAt(0);
const SEPARATOR_UNIT = SEPARATOR.charCodeAt(0);

/** The text that grows, which is one at a time, and its code units. */
let bytes = Buffer.alloc(2 ** 15);
let units = new Uint16Array(bytes.buffer);

/** The terms of n-grams as one text. Joining strings instead takes twice as long. */
class NgramText {
  #length = 0;

  /** Adds a part of a text as an n-gram, after a mark unless that is empty. */
  add(mark: string, text: string, from = 0, to = text.length): void {
    let length = this.#length;
    makeRoom(length + 2 * (to - from) + 3);
    if (mark !== "") {
      units[length++] = mark.charCodeAt(0);
      units[length++] = GAP_UNIT;
    }
    for (let at = from; at < to; at++) {
      const unit = text.charCodeAt(at);
      const isSecondHalf = (unit & 0xfc00) === 0xdc00;
      if (at > from && !isSecondHalf) units[length++] = GAP_UNIT;
      units[length++] = unit;
    }
    units[length++] = SEPARATOR_UNIT;
    this.#length = length;
  }

  toString(): string {
    return bytes.toString("utf16le", 0, 2 * this.#length);
  }
}

function makeRoom(length: number): void {
  if (length <= units.length) return;
  const more = Buffer.alloc(4 * length);
  more.set(bytes);
  bytes = more;
  units = new Uint16Array(bytes.buffer);
}

/** Returns where the code point ends that begins here. At the end of the text, there is none. */
function endOfPoint(text: string, at: number): number {
  if (at >= text.length) return at;
  const isFirstHalf = (text.charCodeAt(at) & 0xfc00) === 0xd800;
  return isFirstHalf ? at + 2 : at + 1;
}

function addSpelling(ngrams: NgramText, spelling: string): void {
  let previous = 0;
  let last = 0;
  for (let at = 0; at < spelling.length; ) {
    const end = endOfPoint(spelling, at);
    if (last < at) ngrams.add("", spelling, last, end);
    if (previous < last) ngrams.add("", spelling, previous, end);
    previous = last;
    last = at;
    at = end;
  }
  for (const start of wordStartsOf(spelling)) {
    if (start > 0) addBeginnings(ngrams, WORD, spelling, start);
  }
  if (isNgram(spelling)) ngrams.add(START, spelling + END);
  addBeginnings(ngrams, START, spelling, 0);
  ngrams.add(END, spelling.slice(last) + spelling.slice(previous, last));
  for (const ngram of listRepeated(spelling)) ngrams.add("", ngram);
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
  const joined = words.join("");
  let start = 0;
  for (const word of words) {
    const next = start + word.length;
    for (let at = start; at < next; at = endOfPoint(joined, at)) {
      const third = endOfPoint(joined, endOfPoint(joined, at));
      if (third < next || third === joined.length) continue;
      const end = endOfPoint(joined, third);
      ngrams.add(DIVIDED, joined, at, end);
      if (at === start) ngrams.add(DIVIDED_START, joined, at, end);
    }
    start = next;
  }
}

/** Adds the n-grams of a key, or only the first one. No query has a key that is shorter. */
function addKey(ngrams: NgramText, key: string, isPart: boolean): void {
  for (let at = 0; at < key.length; at = endOfPoint(key, at)) {
    const third = endOfPoint(key, endOfPoint(key, at));
    if (third === key.length) return;
    const end = endOfPoint(key, third);
    if (at === 0) ngrams.add(KEY_START, key, at, end);
    if (isPart) return;
    ngrams.add(KEY, key, at, end);
  }
}

/** Finds two or three code points that occur twice in a row, as in "kiki" and "sansan". */
const REPEATS = /(?=(..|...)\1)/gsu;

export function listRepeated(text: string): string[] {
  // Most names repeat nothing.
  if (text.search(REPEATS) < 0) return [];
  return Array.from(text.matchAll(REPEATS), ([, part]) => REPEATED + part);
}

function addBeginnings(ngrams: NgramText, mark: string, text: string, start: number): void {
  const end = endOfPoint(text, endOfPoint(text, start));
  ngrams.add(mark, text, start, end);
  ngrams.add(mark, text, start, endOfPoint(text, end));
}

/** Whether a query of this length is looked up as it is, so that all names found match it. */
export const isNgram = (query: string) => !hasCodePoints(query, 4);

/** Returns all n-grams of three code points, or the text itself if it is shorter. */
export function trigramsOf(text: string): string[] {
  const points = [...text];
  const count = Math.max(1, points.length - 2);
  return Array.from({ length: count }, (_, at) => points.slice(at, at + 3).join(""));
}
