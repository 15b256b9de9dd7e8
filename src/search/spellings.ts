/**
 * Computes the spellings under which a name is found: the name itself, a form with digraphs for
 * umlauts ("mueller" for Müller) and a form in Latin letters ("ivanov" for Иванов). README.md has
 * the rules. Snapshots contain the spellings, so a change here or a new version of any-ascii
 * requires a new schema version.
 */
import anyAscii from "any-ascii";
import { fold, writeDigraphs } from "./fold.ts";

/** Separates the spellings of a name in a single text. Folded text contains no line breaks. */
export const SPELLING_END = "\n";

const ASCII = /^[\x20-\x7e]*$/;
const TRANSLITERATED =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** Returns the distinct spellings of a name as one text, starting with the folded name itself. */
export function spell(name: string): string {
  if (ASCII.test(name)) return fold(name);
  const inLatin = toLatin(name.normalize("NFC"));
  return distinct(fold(name), fold(writeDigraphs(name)), fold(inLatin)).join(SPELLING_END);
}

/** Returns the distinct spellings of a query, or none if folding drops every character. */
export function spellQuery(query: string): string[] {
  const folded = fold(query);
  if (folded === "") return [];
  return ASCII.test(query) ? [folded] : distinct(folded, fold(toLatin(query.normalize("NFC"))));
}

/** Returns the folded name itself, without its other spellings. */
export function firstSpelling(spellings: string): string {
  const end = spellings.indexOf(SPELLING_END);
  return end < 0 ? spellings : spellings.slice(0, end);
}

/** Returns `first` and all non-empty `others`, without duplicates. */
function distinct(first: string, ...others: string[]): string[] {
  return [...new Set([first, ...others.filter((spelling) => spelling !== "")])];
}

export function toLatin(text: string): string {
  return text.replace(TRANSLITERATED, (letter) => anyAscii(letter).replaceAll("'", ""));
}
