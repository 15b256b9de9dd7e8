/**
 * Computes the spellings under which a name is found. README.md has the rules. Snapshots contain
 * the spellings, so a change here or a new version of any-ascii requires a new schema version.
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

function distinct(first: string, ...others: string[]): string[] {
  return [...new Set([first, ...others.filter((spelling) => spelling !== "")])];
}

export function toLatin(text: string): string {
  return text.replace(TRANSLITERATED, (letter) => anyAscii(letter).replaceAll("'", ""));
}
