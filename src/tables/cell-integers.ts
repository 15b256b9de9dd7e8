/** Converts the integers that cells have, such as 42, "42" and "42,00". */
import { asText, decoded, trimmed } from "./cell-text.ts";

/** Allows decimals of zeros. In "1.000" and "1,000", they may be the end of a thousand. */
const DECIMAL = /^(?!-?[1-9]\d{0,2}[.,]000$)(-?\d{1,100})(?:[.,]0*)?$/;

/** Returns undefined for null and for empty text. An integer beyond 2^53 becomes a bigint. */
export function toInteger(cell: unknown): unknown {
  const value = trimmed(decoded(cell));
  const [, digits] = DECIMAL.exec(asText(value)) ?? [];
  if (digits === undefined) return value === "" ? undefined : value;
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
}
