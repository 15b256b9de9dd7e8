/**
 * Folding: the form of a text in which names are compared, so that "lodz" finds "Łódź". Pure. The
 * steps and their order are a contract with every snapshot; changing one needs a new schema version.
 */

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

/** The folded form of `text`; empty when nothing comparable is in it. */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  const lower = decompose(decompose(text).toLowerCase());
  const letters = lower.replace(SPECIAL, (letter) => replacement[letter] ?? letter);
  return collapseSpaces(letters.normalize("NFC").replace(CONTROL, ""));
}

const UMLAUT = /[äöüåø]/gi;

const digraphs: Record<string, string> = { ä: "ae", ö: "oe", ü: "ue", å: "aa", ø: "oe" };

/** `text` in NFC with ä ö ü å ø, in either case, as people type them without these keys. */
export function writeDigraphs(text: string): string {
  return text
    .normalize("NFC")
    .replace(UMLAUT, (letter) => digraphs[letter.toLowerCase()] ?? letter);
}

/** `text` with each run of white space as one space, and none at the ends. */
function collapseSpaces(text: string): string {
  return text.replace(/\p{White_Space}+/gu, " ").replace(/^ | $/g, "");
}

/** Marks of Indic scripts, Thai, Arabic or kana are letters of their script, and stay. */
function decompose(text: string): string {
  return text.normalize("NFKD").replace(COMBINING, "");
}
