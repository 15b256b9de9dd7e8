/**
 * Cleans text, counts code points, makes text fit to print, and recognizes what programs write where they have
 * no value or cannot show it: words such as NULL, errors of spreadsheets, and question marks.
 */

const INVISIBLE = /(?![\p{White_Space}\u200c\u200d])[\p{Cc}\p{Cf}]/gu;
/** Matches control and format characters, and white space except single spaces between words. */
const MAY_BE_UNCLEAN = /[\p{Cc}\p{Cf}]|(?! )\p{Z}|^ | $| {2}/u;

/** Drops invisible characters other than the joiners of some scripts. Collapses white space. */
export function cleanName(name: string): string {
  return isClean(name) ? name : collapseSpaces(name.replace(INVISIBLE, ""));
}

/** Whether a text certainly has neither invisible characters nor white space to collapse. */
export const isClean = (text: string) => !MAY_BE_UNCLEAN.test(text);

/** Trims the text, too. */
export function collapseSpaces(text: string): string {
  return text.replace(/\p{White_Space}+/gu, " ").replace(/^ | $/g, "");
}

/** Joins the lines of a paragraph that is longer than a line of source code. */
export function paragraph(...lines: string[]): string {
  return lines.join(" ");
}

/** Writes 1234 as 1,234. The first use of `toLocaleString` would slow the start. */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${groupDigits(count)} ${count === 1 ? one : many}`;
}

export function hasCodePoints(text: string, count: number): boolean {
  if (text.length < count) return false;
  return text.length >= 2 * count || codePointsOf(text) >= count;
}

/** Counts without an array of the code points. */
function codePointsOf(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Rejects unpaired surrogates, which UTF-8 cannot encode. Long text is rejected at once. */
export function isText(value: string, maxCodePoints: number): boolean {
  return !hasCodePoints(value, maxCodePoints + 1) && value.isWellFormed();
}

/** How much of a text to print, in code units. */
const MAX_PRINTED = 80;

/** Makes text safe to print: truncates long text and escapes control characters. */
export function printable(text: string, maxLength = MAX_PRINTED): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  const toCode = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  return short.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, toCode);
}

/** Whether most of a name is what a program writes for letters that its encoding lacks. */
export function isQuestionMarks(name: string): boolean {
  if (!name.includes("?")) return false;
  const rest = name.replaceAll("?", "");
  return name.length - rest.length > rest.replace(/\s/g, "").length;
}

/** How exporters of tables write null. */
const NO_VALUE = /^\s*(?:NULL|\\N|NA|<NA>|NaN|None)\s*$/;
/** How other programs do, and people. */
const PLACEHOLDER = /^\s*(?:null|nan|none|NONE|undefined|\[object Object\]|[Nn]\/[Aa])\s*$/;

export function isNoValue(text: string): boolean {
  return NO_VALUE.test(text);
}

/** Whether a value is a text that stands for no value. Some people have such a name. */
export function isPlaceholder(value: unknown): boolean {
  return typeof value === "string" && (NO_VALUE.test(value) || PLACEHOLDER.test(value));
}

const ERROR_CODES = "N/A|N/D|NV|NENÍ_K_DISPOZICI";
const ERROR_WORDS = [
  "REF|BEZUG|ADR|ODKAZ",
  "NAME|NOM|NOMBRE|NAZWA|NÁZEV",
  "VALUE|WERT|VALEUR|VALOR|ARG|HODNOTA",
  "DIV/0|DZIEL/0|DĚLENÍ_NULOU",
  "NUM|ZAHL|NOMBRE|LICZBA|ČÍSLO",
  "NULL|NUL|NULO|ZERO",
  "SPILL|CALC|ERROR",
].join("|");
const UNCOMPUTED = new RegExp(
  `^\\s*(?:#(?:${ERROR_CODES}|[¡¿]?(?:${ERROR_WORDS})\\s?[!?])|(?:Err|Fehler|Błąd|Chyba)\\s?:\\s?\\d{3})\\s*$`,
);

/**
 * Whether a value is what a spreadsheet shows where it cannot compute a formula, such as #REF!, in
 * one of the page's languages.
 */
export function isUncomputed(value: unknown): boolean {
  return typeof value === "string" && UNCOMPUTED.test(value);
}
