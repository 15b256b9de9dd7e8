/**
 * Says what a key is: an id of any kind, such as a UUID, which an id map translates into an integer.
 * The id map, the tables and the messages about ids agree on this.
 */
import { type FaultyRecord, type RawRecord, type RecordType, recordTypes } from "./records.ts";
import { isPlaceholder, isText, isUncomputed } from "./text.ts";

const MAX_KEY_LENGTH = 100;
/** How spreadsheets write long numbers. Hexadecimal text such as 12e5 has no plus sign. */
const ROUNDED = /^-?\d(?:[.,]\d+)?E\+\d+$/i;

/** Allows decimals of zeros. In "1.000" and "1,000", they may be the end of a thousand. */
const WHOLE = /^(?!-?[1-9]\d{0,2}[.,]000$)(-?\d{1,100})(?:[.,]0*)?$/;

/** Returns an id of any kind as text, the key of an id map, or undefined for anything else. */
export function toKey(value: unknown): string | undefined {
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return String(value);
  const text = value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
  const key = typeof text === "string" ? text.trim() : "";
  if (key === "" || !isText(key, MAX_KEY_LENGTH)) return undefined;
  // Next time, another person may have none.
  const isNone = isPlaceholder(key) || isUncomputed(key);
  return isNone || isRounded(key) ? undefined : (digitsOf(key) ?? key);
}

/** Returns the digits of an integer without decimals: 42 for 42.0 and 42,00, as tools write it. */
export function digitsOf(text: string): string | undefined {
  return WHOLE.exec(text)?.[1];
}

/** Whether text looks like a number that a spreadsheet has rounded. */
export function isRounded(text: string): boolean {
  // Looks for the plus sign first, which is faster.
  return text.includes("+") && ROUNDED.test(text);
}

const LONG = /^\d{16,100}$/;
/** Some programs use the last digits of ids for something other than counting, and leave them zero. */
const LEAST_STEP = 1024n;

/**
 * Notices long ids that a program has read as doubles: 76561198012345678 became 76561198012345680. One
 * such id beside others that are exact means nothing, but a column of them alone is no accident.
 */
export function createRoundedIds() {
  /** The first record of a type with such an id, or that another one has an id that no double has. */
  const firsts = new Map<RecordType, { id: string; line?: number | undefined } | "exact">();
  return {
    add({ type: given, id }: RawRecord, line?: number): void {
      const text = typeof id === "bigint" ? String(id) : id;
      if (typeof text !== "string" || !LONG.test(text)) return;
      const type = recordTypes.find((known) => known === given);
      const first = type && firsts.get(type);
      if (!type || first === "exact") return;

      const isShort = BigInt(text) <= Number.MAX_SAFE_INTEGER;
      if (isShort || BigInt(text) % LEAST_STEP === 0n) return;

      // Some programs print all digits of a double, and others as many as tell it from the next.
      const isDouble = BigInt(Number(text)) === BigInt(text) || String(Number(text)) === text;
      if (!isDouble) firsts.set(type, "exact");
      else if (!first) firsts.set(type, { id: text, line });
    },

    /** Lists the types of which every long id looks rounded, each with its first record. */
    list: (): FaultyRecord[] =>
      [...firsts].flatMap(([type, first]) => (first === "exact" ? [] : [{ type, ...first }])),
  };
}
