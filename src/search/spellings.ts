/**
 * The spellings of a name, under each of which it is found: the name itself, a form with digraphs
 * for umlauts (Müller as "mueller") and a form in Latin letters (Иванов as "ivanov"). README.md has
 * the rules. Pure. Snapshots contain the spellings, so a change here or another version of
 * any-ascii needs a new schema version.
 */
import anyAscii from "any-ascii";
import { fold, writeDigraphs } from "./fold.ts";

/** Separates the spellings of a name in one text. A folded text has no line breaks. */
export const SPELLING_END = "\n";

const ASCII = /^[\x20-\x7e]*$/;
const TRANSLITERATED =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** The distinct spellings of a name as one text, the name itself first. */
export function spell(name: string): string {
  if (ASCII.test(name)) return fold(name);
  const inLatin = toLatin(name.normalize("NFC"));
  return distinct(fold(name), fold(writeDigraphs(name)), fold(inLatin)).join(SPELLING_END);
}

/** The distinct spellings of a query. There are none if the query folds to nothing. */
export function spellQuery(query: string): string[] {
  const folded = fold(query);
  if (folded === "") return [];
  return ASCII.test(query) ? [folded] : distinct(folded, fold(toLatin(query.normalize("NFC"))));
}

/** The folded name itself, without its other spellings. */
export function firstSpelling(spellings: string): string {
  const end = spellings.indexOf(SPELLING_END);
  return end < 0 ? spellings : spellings.slice(0, end);
}

/** The first spelling, and the others that are not empty, without duplicates. */
function distinct(first: string, ...others: string[]): string[] {
  return [...new Set([first, ...others.filter((spelling) => spelling !== "")])];
}

function toLatin(text: string): string {
  return text.replace(TRANSLITERATED, (letter) => anyAscii(letter).replaceAll("'", ""));
}
