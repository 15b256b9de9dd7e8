/**
 * Folds names and queries, so that "lodz" finds "Łódź". README.md lists the steps. Snapshots
 * contain folded names, so any change here requires a new schema version.
 */
import { collapseSpaces } from "../domain/text.ts";

const COMBINING = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/g;
const SPECIAL = /[łøđðþßæœıħŧς]/g;
const CONTROL = /(?!\p{White_Space})[\p{Cc}\p{Cf}]/gu;
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

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

export function fold(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  const lower = decompose(decompose(text).toLowerCase());
  const letters = lower.replace(SPECIAL, (letter) => replacement[letter] ?? letter);
  return collapseSpaces(letters.normalize("NFC").replace(CONTROL, ""));
}

const HAS_DIGRAPH = /[äöüåø]/gi;

const digraphs: Record<string, string> = { ä: "ae", ö: "oe", ü: "ue", å: "aa", ø: "oe" };

export function writeDigraphs(text: string): string {
  return text
    .normalize("NFC")
    .replace(HAS_DIGRAPH, (letter) => digraphs[letter.toLowerCase()] ?? letter);
}

/** Drops diacritics. Keeps Indic, Thai, Arabic and kana marks, which act as letters. */
function decompose(text: string): string {
  return text.normalize("NFKD").replace(COMBINING, "");
}
