/**
 * Converts what drivers and CSV files have in a cell into the values that dataset lines have. A
 * value that cannot be converted is returned unchanged, so that validation rejects and quotes it.
 */
import { formatTime, parseTime } from "../domain/time.ts";

/** Returns undefined for null and for empty text. */
export function toInteger(cell: unknown): unknown {
  const value = trimmed(cell);
  if (value === "") return undefined;
  const [, digits] = typeof value === "string" ? (DECIMAL.exec(value) ?? []) : [];
  const isNumber = typeof value === "number" || typeof value === "bigint";
  const number = isNumber || digits !== undefined ? Number(digits ?? value) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  if (digits !== undefined) return BigInt(digits.replace("+", ""));
  return Number.isInteger(value) ? BigInt(number) : value;
}

const DECIMAL = /^([+-]?\d{1,100})(?:\.0*)?$/;

const booleans = new Map<unknown, boolean>([
  ...[1, "1", "true", "t", "yes"].map((value) => [value, true] as const),
  ...[0, "0", "false", "f", "no"].map((value) => [value, false] as const),
]);

/** Accepts all common ways to store a boolean, but never takes any other value for true. */
export function toPublic(cell: unknown): unknown {
  if (typeof cell === "bigint") return booleans.get(Number(cell)) ?? cell;
  // MySQL's bit type with more than one bit.
  if (cell instanceof Uint8Array) {
    const isSmall = cell.subarray(0, -1).every((byte) => byte === 0);
    return (isSmall ? booleans.get(cell.at(-1)) : undefined) ?? cell;
  }
  const text = trimmed(cell);
  return booleans.get(typeof text === "string" ? text.toLowerCase() : text) ?? text;
}

/** Returns undefined for null. Decodes MySQL's binary strings. */
export function toText(cell: unknown): unknown {
  if (cell === null || cell === undefined) return undefined;
  if (typeof cell === "number" || typeof cell === "bigint") return String(cell);
  if (!(cell instanceof Uint8Array)) return cell;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(cell);
  } catch {
    return cell;
  }
}

/** Like {@link toText}, but also returns undefined for empty text. */
export function toOptionalText(cell: unknown): unknown {
  const text = toText(cell);
  return text === "" ? undefined : text;
}

const LOCAL = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?) ?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/**
 * Returns an RFC 3339 time in UTC, or undefined for null and for empty text. A time without a zone
 * is in UTC.
 */
export function toTime(cell: unknown): unknown {
  // MySQL has dates such as 0000-00-00, and PostgreSQL has years beyond 9999.
  if (cell instanceof Date) return formatSeconds(cell.getTime() / 1000, cell);
  const text = typeof cell === "bigint" ? Number(cell) : trimmed(cell);
  if (typeof text === "number") return Number.isInteger(text) ? formatSeconds(text, text) : text;
  if (typeof text !== "string" || text === "") return text || undefined;
  if (/^-?\d{1,12}$/.test(text)) return formatSeconds(Number(text), text);
  const [, date, time, zone = "Z"] = LOCAL.exec(text) ?? [];
  if (date === undefined) return text;
  const offset = zone.replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours, minutes = "00") => {
    return `${hours}:${minutes}`;
  });
  const rfc3339 = `${date}T${time}${offset}`;
  if (offset === "Z" && rfc3339.length === 20) return rfc3339;
  const seconds = parseTime(rfc3339);
  return seconds === undefined ? rfc3339 : formatTime(seconds);
}

function formatSeconds(seconds: number, cell: unknown): unknown {
  const time = Math.abs(seconds) < 1e12 ? formatTime(Math.floor(seconds)) : "";
  if (/^\d{4}-/.test(time)) return time;
  if (!(cell instanceof Date)) return cell;
  return Number.isNaN(seconds) ? "0000-00-00 00:00:00" : cell.toISOString();
}

/** Removes the space around text, and returns undefined for null. */
function trimmed(cell: unknown): unknown {
  return typeof cell === "string" ? cell.trim() : (cell ?? undefined);
}
