/**
 * Folds names and queries, so that "lodz" finds "Łódź", and adds spellings from other keyboards.
 * README.md has the rules. Snapshots contain the results, so a change to the rules, or another
 * version of any-ascii, requires a new schema version.
 */
import anyAscii from "any-ascii";
import { collapseSpaces, hasCodePoints, isClean } from "../domain/text.ts";

/** A name, and all its spellings in one text. */
export interface SpelledName {
  name: string;
  folded: string;
}

/** Separates the spellings of a name in that text. */
export const SPELLING_END = "\n";

const ASCII = /^[\x20-\x7e]*$/;
/** Besides apostrophes, the geresh and the gershayim of Hebrew. */
const APOSTROPHES = /['’‘‛ʼʻ′＇`´ʹ׳״]/g;
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
/** Diacritics, variation selectors, and the marks of Arabic and Hebrew, which are rarely typed. */
const MARKS =
  /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}\u064b-\u065f\u0670\u0640\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]/gu;
/** What `unify` replaces. */
const VARIANTS = /[ςیىکةہھٱ[\p{Nd}--[0-9]][[\p{Pd}\u2212]--\-][\p{Script=Latin}--[a-z]]]/gv;
const CONTROL = /(?!\p{White_Space})[\p{Cc}\p{Cf}]/gu;
const GREEK_OU = /ο[υύ]/giu;
const HAS_DIGRAPH = /[äöüåøđə]/gi;
/** Letters that are also spelled in Latin letters. */
export const TRANSLITERATED =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** Letters that keyboards of other countries have, or that are only written at the end of a word. */
const variants: Record<string, string> = {
  ς: "σ",
  ی: "ي",
  ى: "ي",
  ک: "ك",
  ة: "ه",
  ہ: "ه",
  ھ: "ه",
  ٱ: "ا",
};
const digraphs: Record<string, string> = {
  ä: "ae",
  ö: "oe",
  ü: "ue",
  å: "aa",
  ø: "oe",
  đ: "dj",
  ə: "a",
};

/** Returns one spelling, which contains no line breaks. */
export function fold(text: string): string {
  const bare = text.replace(APOSTROPHES, "");
  if (PLAIN.test(bare)) return bare.toLowerCase();
  // Step 5 of README.md is left out: in this version of Unicode, it changes nothing.
  const lower = decompose(bare).toLowerCase();
  if (PLAIN.test(lower)) return lower;
  const unified = lower.replace(VARIANTS, unify).normalize("NFC");
  return isClean(unified) ? unified : collapseSpaces(unified.replace(CONTROL, ""));
}

/** Keeps the marks of kana, Thai and the scripts of India, which act as letters. */
function decompose(text: string): string {
  return text.normalize("NFKD").replace(MARKS, "");
}

/** Replaces a letter, a digit or a dash in lower case by its most common form. */
function unify(character: string): string {
  const letter = variants[character];
  if (letter !== undefined) return letter;
  if (DIGIT.test(character)) return String(digitOf(character));
  return DASH.test(character) ? "-" : anyAscii(character).toLowerCase();
}

const DIGIT = /\p{Nd}/u;
const DASH = /[\p{Pd}\u2212]/u;

/** Unicode has the decimal digits of each script in order, beginning with zero. */
function digitOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  let zero = code;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return (code - zero) % 10;
}

function toDigraphs(text: string): string {
  const digraphOf = (letter: string) => digraphs[letter.toLowerCase()] ?? letter;
  return text.normalize("NFC").replace(HAS_DIGRAPH, digraphOf);
}

function toLatin(text: string): string {
  return text.normalize("NFKC").replace(GREEK_OU, "ou").replace(TRANSLITERATED, anyAscii);
}

/** Returns the distinct spellings of a name as one text, starting with the folded name itself. */
export function spell(name: string): string {
  if (ASCII.test(name)) return fold(name);
  return foldDistinct([name, toDigraphs(name), toLatin(name)]).join(SPELLING_END);
}

/** At least 2 code points. The flags make `.` match any code point. */
export const SEARCHABLE = /^.{2}/su;

/** In NFC. A longer query finds nothing. */
export const MAX_QUERY_CODE_POINTS = 400;

/** How many marks a letter composes with at most. */
const MAX_COMPOSED_MARKS = 3;

/** Enough to see at the first step that a run of marks is too long. */
const STEP_CODE_POINTS = 500;

/** Collapses white space, converts to NFC, and cuts a query that is too long to find anything. */
export function normalizeQuery(text: string): string {
  const query = collapseSpaces(text);
  // Converting a run of marks takes quadratic time, so a long query is converted only as far as is
  // needed to see that it is too long.
  for (let count = STEP_CODE_POINTS; ; count += STEP_CODE_POINTS) {
    const start = firstCodePoints(query, count);
    const composed = start.normalize("NFC");
    // The marks that follow can still change the last letter.
    const isTooLong = hasCodePoints(composed, MAX_QUERY_CODE_POINTS + 1 + MAX_COMPOSED_MARKS);
    if (isTooLong || start === query) return firstCodePoints(composed, MAX_QUERY_CODE_POINTS + 1);
  }
}

/**
 * Returns the distinct spellings of a normalized query, or none if it is too long or folding drops
 * all of it.
 */
export function spellQuery(query: string): string[] {
  if (hasCodePoints(query, MAX_QUERY_CODE_POINTS + 1)) return [];
  const spellings = foldDistinct([query, toLatin(query)]);
  return spellings[0] === "" ? [] : spellings;
}

/** Folds distinct texts, because folding is slow. The first spelling is kept even if it is empty. */
function foldDistinct(texts: string[]): string[] {
  const [first = "", ...others] = Array.from(new Set(texts), fold);
  return [...new Set([first, ...others.filter((spelling) => spelling !== "")])];
}

function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join("");
}
