/**
 * Spellings: a name is found as it is written, with digraphs in place of umlauts (Müller as "mueller"),
 * and in Latin letters where it is in another script (Иванов as "ivanov"). Pure. The spellings are a
 * contract with every snapshot, as folding is; so is the version of any-ascii.
 *
 * A name has one to three, each folded:
 * 1. the name itself;
 * 2. in NFC with ä ö ü å ø, in either case, as ae oe ue aa oe;
 * 3. in NFC with each code point of Cyrillic, Greek, Armenian, Georgian, Hiragana, Katakana and Hangul as
 *    any-ascii returns it alone, without its apostrophes. Other scripts stay: their Latin forms would
 *    be guesses.
 */
import anyAscii from "any-ascii";
import { fold, writeDigraphs } from "./fold.ts";

/** Between the spellings of a name in one text. Folding leaves no line breaks. */
export const SPELLING_END = "\n";

const ASCII = /^[\x20-\x7e]*$/;
const OTHER_SCRIPT =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** The spellings of a name in one text, the name itself first; each comes once. */
export function spell(name: string): string {
  if (ASCII.test(name)) return fold(name);
  const inLatin = toLatin(name.normalize("NFC"));
  return distinct(fold(name), fold(writeDigraphs(name)), fold(inLatin)).join(SPELLING_END);
}

/** The spellings of a query: as it is written, and in Latin letters; none of one that matches nothing. */
export function spellQuery(query: string): string[] {
  const folded = fold(query);
  if (folded === "") return [];
  return ASCII.test(query) ? [folded] : distinct(folded, fold(toLatin(query.normalize("NFC"))));
}

/** The first spelling of a name: the name itself. */
export function firstSpelling(spellings: string): string {
  const end = spellings.indexOf(SPELLING_END);
  return end < 0 ? spellings : spellings.slice(0, end);
}

/** The first one, and those that differ from it and have something in them. */
function distinct(first: string, ...others: string[]): string[] {
  return [...new Set([first, ...others.filter((spelling) => spelling !== "")])];
}

function toLatin(letters: string): string {
  return letters.replace(OTHER_SCRIPT, (letter) => anyAscii(letter).replaceAll("'", ""));
}
