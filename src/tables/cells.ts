/**
 * Converts the cells of databases and CSV files into the values of dataset lines. A value that
 * cannot be converted is returned unchanged, so that validation rejects and quotes it.
 */
import { isUtf8 } from "node:buffer";
import { formatTime } from "../domain/time.ts";

const DECIMAL = /^(-?\d{1,100})(?:\.0*)?$/;

/** Returns undefined for null and for empty text. An integer beyond 2^53 becomes a bigint. */
export function toInteger(cell: unknown): unknown {
  const value = trimmed(cell);
  const [, digits] = DECIMAL.exec(String(value)) ?? [];
  if (digits === undefined) return value === "" ? undefined : value;
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
}

// Databases and people write these words, and spreadsheets in the languages of the page.
const TRUE = "1 true t yes y on wahr ja vrai oui prawda tak verdadero sí pravda ano".split(" ");
const FALSE = "0 false f no n off falsch nein faux non fałsz nie falso nepravda ne".split(" ");

export function toPublic(cell: unknown): unknown {
  // MySQL's literal b'1' arrives as the byte 1, and its BIT(1) as a boolean.
  const value = cell instanceof Uint8Array && cell.length === 1 ? cell[0] : trimmed(cell);
  // As text, an array of one element would look like that element.
  const text = typeof value === "object" ? "" : String(value).toLowerCase();
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : value;
}

/** Returns undefined for null. MySQL's binary strings are decoded. */
export function toText(cell: unknown): unknown {
  if (typeof cell === "number" || typeof cell === "bigint") return String(cell);
  if (cell instanceof Uint8Array && isUtf8(cell)) return Buffer.from(cell).toString();
  return cell ?? undefined;
}

/** Like {@link toText}, but also returns undefined for empty text. */
export function toOptionalText(cell: unknown): unknown {
  return toText(cell) || undefined;
}

const TIME = /^([\d-]{10})[ T]([\d:.]{8,}) ?(?:Z|([+-]\d\d):?(\d\d)?)?$/i;

/**
 * Reads Unix seconds and RFC 3339. Also allows a space for the T, and the zone +01 or none (UTC).
 */
export function toTime(cell: unknown): unknown {
  const value = cell instanceof Date ? cell.getTime() / 1000 : toInteger(cell);
  if (cell instanceof Date || Number.isInteger(value)) {
    const year = new Date(Number(value) * 1000).getUTCFullYear();
    return year >= 0 && year <= 9999 ? formatTime(Number(value)) : String(cell);
  }
  const [, date, time, hours = "+00", minutes = "00"] = TIME.exec(String(value)) ?? [];
  return date === undefined ? value : `${date}T${time}${hours}:${minutes}`;
}

/** Removes the space around text, and returns undefined for null. */
function trimmed(cell: unknown): unknown {
  return typeof cell === "string" ? cell.trim() : (cell ?? undefined);
}
