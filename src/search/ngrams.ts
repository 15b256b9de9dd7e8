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
  const terms = new Terms();
  const spellings = folded.split(SPELLING_END);
  for (const spelling of spellings) {
    if (spelling !== "") addSpelling(terms, spelling);
  }
  addLoose(terms, folded, name);
  if (folded.search(TRANSLITERATED) >= 0) {
    terms.addText(OTHER_SCRIPT);
    if (spellings.some(isMixed)) terms.addText(MIXED_SCRIPTS);
  }
  return terms.toString();
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

/** More code units than the terms of a text take for each unit of the text, and besides. */
const UNITS_PER_UNIT = 40;
const MORE_UNITS = 80;

/** The terms of one name at a time. */
let bytes = Buffer.alloc(2 ** 16);
let units = new Uint16Array(bytes.buffer);
/** The text of which terms are added, with a gap after each code point, and where these begin. */
const gapped = [0];
const starts = [0];

/**
 * The terms of a name as one text. A name has some thirty, so each is a copy of a part of a text that
 * has the gaps already. Joining strings instead takes three times as long.
 */
class Terms {
  #text = "";
  /** The number of code points in the text. */
  #points = 0;
  /** The number of code units of the terms. */
  #length = 0;

  /** Takes the text of which terms are added next. Returns the number of its code points. */
  open(text: string): number {
    makeRoom(this.#length + UNITS_PER_UNIT * text.length + MORE_UNITS);
    let points = 0;
    let end = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      const isSecondHalf = (unit & 0xfc00) === 0xdc00;
      if (isSecondHalf) end--;
      else starts[points++] = end;
      gapped[end++] = unit;
      gapped[end++] = GAP_UNIT;
    }
    starts[points] = end;
    this.#text = text;
    this.#points = points;
    return points;
  }

  /** Adds the code points from one on to another, or to the end of the text, after a mark if given. */
  add(from: number, to: number, mark?: string): void {
    if (mark !== undefined) this.#addMark(mark);
    this.#addPoints(from, Math.min(to, this.#points));
    units[this.#length - 1] = SEPARATOR_UNIT;
  }

  /** Adds the last code point and then the one before it. */
  addEnd(mark: string): void {
    this.#addMark(mark);
    this.#addPoints(this.#points - 1, this.#points);
    this.#addPoints(Math.max(0, this.#points - 2), this.#points - 1);
    units[this.#length - 1] = SEPARATOR_UNIT;
  }

  addText(text: string): void {
    this.add(0, this.open(text));
  }

  /** Returns how many code points there are before a code unit. */
  pointAt(at: number): number {
    const hasPairs = this.#points < this.#text.length;
    return hasPairs ? [...this.#text.slice(0, at)].length : at;
  }

  toString(): string {
    return bytes.toString("utf16le", 0, 2 * this.#length);
  }

  #addMark(mark: string): void {
    units[this.#length++] = mark.charCodeAt(0);
    units[this.#length++] = GAP_UNIT;
  }

  #addPoints(from: number, to: number): void {
    let length = this.#length;
    const end = starts[to] ?? 0;
    for (let at = starts[from] ?? 0; at < end; at++) units[length++] = gapped[at] ?? 0;
    this.#length = length;
  }
}

function makeRoom(length: number): void {
  if (length <= units.length) return;
  const more = Buffer.alloc(4 * length);
  more.set(bytes);
  bytes = more;
  units = new Uint16Array(bytes.buffer);
}

function addSpelling(terms: Terms, spelling: string): void {
  const points = terms.open(spelling);
  for (let end = 2; end <= points; end++) {
    terms.add(end - 2, end);
    if (end > 2) terms.add(end - 3, end);
  }
  for (const at of wordStartsOf(spelling)) {
    if (at > 0) addBeginnings(terms, WORD, terms.pointAt(at));
  }
  addBeginnings(terms, START, 0);
  terms.addEnd(END);
  for (const ngram of listRepeated(spelling)) terms.addText(ngram);
  if (isNgram(spelling)) terms.addText(START + spelling + END);
}

/** Adds the n-grams that only loose spellings have. */
function addLoose(terms: Terms, folded: string, name: string): void {
  for (const spelling of dividedSpellings(folded)) {
    if (DIVIDER.test(spelling)) addDivided(terms, wordsIn(spelling));
  }
  const keys = keysOfName(name);
  for (const key of keys) {
    // Most keys of a name end with that of the last word.
    const isPart = keys.some((other) => other.length > key.length && other.endsWith(key));
    addKey(terms, key, isPart);
  }
}

/** Adds the n-grams of joined words that no word has itself. */
function addDivided(terms: Terms, words: string[]): void {
  const points = terms.open(words.join(""));
  let start = 0;
  let at = 0;
  for (const word of words) {
    at += word.length;
    const next = terms.pointAt(at);
    for (let from = Math.max(start, next - 2); from < next && from + 3 <= points; from++) {
      terms.add(from, from + 3, DIVIDED);
      if (from === start) terms.add(from, from + 3, DIVIDED_START);
    }
    start = next;
  }
}

/** Adds the n-grams of a key, or only the first one. No query has a key that is shorter. */
function addKey(terms: Terms, key: string, isPart: boolean): void {
  const points = terms.open(key);
  if (points < 3) return;
  terms.add(0, 3, KEY_START);
  if (isPart) return;
  for (let end = 3; end <= points; end++) terms.add(end - 3, end, KEY);
}

/** Finds two or three code points that occur twice in a row, as in "kiki" and "sansan". */
const REPEATS = /(?=(..|...)\1)/gsu;

export function listRepeated(text: string): string[] {
  // Most names repeat nothing.
  if (text.search(REPEATS) < 0) return [];
  return Array.from(text.matchAll(REPEATS), ([, part]) => REPEATED + part);
}

function addBeginnings(terms: Terms, mark: string, start: number): void {
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
