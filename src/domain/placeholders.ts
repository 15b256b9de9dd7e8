/**
 * Recognizes texts that programs write where they have no value or cannot show it: words such as NULL,
 * errors of spreadsheets, and question marks.
 */

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
