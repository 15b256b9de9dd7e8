/**
 * Folds names and queries, so that "lodz" finds "Łódź", and adds spellings from other keyboards.
 * README.md has the rules. Snapshots contain the results, so a change to the rules, or another
 * version of any-ascii, requires a new schema version.
 */
import anyAscii from "any-ascii";
import { collapseSpaces, hasCodePoints } from "../domain/text.ts";
import { MAX_QUERY_CODE_POINTS } from "./normalize-query.ts";

/** Separates the spellings of a name in a single text, such as the column `folded`. */
export const SPELLING_END = "\n";

const ASCII = /^[\x20-\x7e]*$/;
const APOSTROPHES = /['’‘‛ʼʻ′＇`´]/g;
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
const COMBINING = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/g;
const SPECIAL = /[łøđðþßæœıħŧς]/g;
const CONTROL = /(?!\p{White_Space})[\p{Cc}\p{Cf}]/gu;
const GREEK_OU = /ο[υύ]/giu;
const HAS_DIGRAPH = /[äöüåø]/gi;
/** Letters that are also spelled in Latin letters. */
export const TRANSLITERATED =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

const replacement: Record<string, string> = {
  ł: "l",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ı: "i",
  ħ: "h",
  ŧ: "t",
  ς: "σ",
};
const digraphs: Record<string, string> = { ä: "ae", ö: "oe", ü: "ue", å: "aa", ø: "oe" };

/** Returns one spelling, which contains no line breaks. */
export function fold(text: string): string {
  const bare = text.replace(APOSTROPHES, "");
  if (PLAIN.test(bare)) return bare.toLowerCase();
  const lower = decompose(decompose(bare).toLowerCase());
  const letters = lower.replace(SPECIAL, (letter) => replacement[letter] ?? letter);
  return collapseSpaces(letters.normalize("NFC").replace(CONTROL, ""));
}

/** Drops diacritics. Keeps Indic, Thai, Arabic and kana marks, which act as letters. */
function decompose(text: string): string {
  return text.normalize("NFKD").replace(COMBINING, "");
}

function toDigraphs(text: string): string {
  const digraphOf = (letter: string) => digraphs[letter.toLowerCase()] ?? letter;
  return text.normalize("NFC").replace(HAS_DIGRAPH, digraphOf);
}

function toLatin(text: string): string {
  return text.normalize("NFC").replace(GREEK_OU, "ou").replace(TRANSLITERATED, anyAscii);
}

/** Each returns the text that folds to one of the spellings of a name. */
const rewriters = [(name: string) => name, toDigraphs, toLatin];

/** Each returns one of the spellings of a name, which may be empty or equal another. */
export const spellers = rewriters.map((rewrite) => (name: string) => fold(rewrite(name)));

/** Returns the distinct spellings of a name as one text, starting with the folded name itself. */
export function spell(name: string): string {
  if (ASCII.test(name)) return fold(name);
  return foldDistinct(rewriters.map((rewrite) => rewrite(name))).join(SPELLING_END);
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
  const spellings = new Set(Array.from(new Set(texts), fold));
  return [...spellings].filter((spelling, at) => at === 0 || spelling !== "");
}
