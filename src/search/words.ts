/** Words: where they start, and what divides them, which is all but letters, digits and marks. */

const WORD_START = /(?<![\p{L}\p{N}]\p{M}*)[\p{L}\p{N}]/gu;
const WORD_START_HERE = new RegExp(WORD_START, "uy");

/** Creates no RegExp match objects, which would take gigabytes of memory for all long names. */
export function wordStartsOf(name: string): number[] {
  const starts: number[] = [];
  WORD_START.lastIndex = 0;
  while (WORD_START.test(name)) {
    const at = WORD_START.lastIndex - 1;
    const isSecondHalf = (name.charCodeAt(at) & 0xfc00) === 0xdc00;
    starts.push(isSecondHalf ? at - 1 : at);
  }
  return starts;
}

export function isWordStart(name: string, at: number): boolean {
  WORD_START_HERE.lastIndex = at;
  return WORD_START_HERE.test(name);
}

export const DIVIDER = /[^\p{L}\p{N}\p{M}]/u;
const DIVIDERS = new RegExp(`${DIVIDER.source}+`, "gu");

const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
export const wordsIn = (text: string): string[] => text.match(WORDS) ?? [];

export const compactOf = (text: string) => text.replace(DIVIDERS, "");
