/** Cleans text, counts code points, and makes text fit to print. */

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
