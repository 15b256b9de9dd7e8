/** Converts the ids and other integers that cells have to those of a dataset. */
import { toKey } from "../domain/keys.ts";
import { asText, decoded, trimmed } from "./cell-text.ts";

/** The form of ids: integers, or keys, which can be of any kind. */
export interface IdFormat {
  /** Reads an id from a cell. Returns anything else unchanged, so that validation quotes it. */
  read(cell: unknown): unknown;
  /** Whether a cell refers to nothing, such as 0. */
  isNone(cell: unknown): boolean;
  /** Whether what `read` has returned is an id. */
  isId(value: unknown): value is number | string;
}

export const idFormats = {
  integers: {
    read: toInteger,
    isNone: (cell) => !toInteger(cell),
    isId: (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
  },
  keys: {
    read: (cell) => toKey(cell) ?? toInteger(cell),
    isNone: (cell) => !(cell instanceof Uint8Array) && !toInteger(cell),
    isId: (value): value is number | string => toKey(value) !== undefined,
  },
} satisfies Record<string, IdFormat>;

/** Keys need an id map. */
export type IdKind = keyof typeof idFormats;

/** Allows decimals of zeros. In "1.000" and "1,000", they may be the end of a thousand. */
const DECIMAL = /^(?!-?[1-9]\d{0,2}[.,]000$)(-?\d{1,100})(?:[.,]0*)?$/;

/** Returns undefined for null and for empty text. An integer beyond 2^53 becomes a bigint. */
export function toInteger(cell: unknown): unknown {
  const value = trimmed(decoded(cell));
  const [, digits] = DECIMAL.exec(asText(value)) ?? [];
  if (digits === undefined) return value === "" ? undefined : value;
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
}
