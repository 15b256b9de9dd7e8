/**
 * Says what a key is: an id of any kind, such as a UUID, which an id map translates into an integer.
 * The id map, the tables and the messages about ids agree on this.
 */
import { isText } from "./text.ts";

export const MAX_KEY_LENGTH = 100;
/** How spreadsheets write long numbers. Hexadecimal text such as 12e5 has no plus sign. */
const ROUNDED = /^-?\d(?:[.,]\d+)?E\+\d+$/i;

/** Returns an id of any kind as text, the key of an id map, or undefined for anything else. */
export function toKey(value: unknown): string | undefined {
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return String(value);
  const text = value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
  const key = typeof text === "string" ? text.trim() : "";
  return key !== "" && isText(key, MAX_KEY_LENGTH) && !isRounded(key) ? key : undefined;
}

/** Whether text looks like a number that a spreadsheet has rounded. */
export function isRounded(text: string): boolean {
  // Looks for the plus sign first, which is faster.
  return text.includes("+") && ROUNDED.test(text);
}
