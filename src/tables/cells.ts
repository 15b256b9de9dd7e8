/**
 * Converts the cells of databases and CSV files into the values of dataset lines. A value that
 * cannot be converted is returned unchanged, so that validation rejects and quotes it.
 */
import { isUtf8 } from "node:buffer";
import type { RawRecord } from "../domain/dataset.ts";
import { languages } from "../domain/languages.ts";
import { formatTime, parseTime } from "../domain/time.ts";
import { FormulaError, isFormulaError, toKey } from "../domain/validation-errors.ts";
import type { DateOrder } from "./date-order.ts";

/** How the cells of one source differ from those of others. */
export interface CellFormat {
  /** Whether a boolean can be a byte. Only MySQL sends a bit as one. */
  readonly hasBits?: boolean;
  /** Whether people have written the cells in a spreadsheet, which shows errors as text. */
  readonly isSpreadsheet?: boolean;
  /** The order of day and month in a column, if it has dates such as 5/31/2021. */
  orderOf?(column: string): DateOrder | undefined;
}

/** Returns what converts the cells of a row. */
export function createConverter(ids: IdFormat, format: CellFormat): (row: RawRecord) => RawRecord {
  const { hasBits, isSpreadsheet } = format;
  const converters: Partial<Record<string, (cell: unknown) => unknown>> = {
    id: ids.read,
    user_id: ids.read,
    role_id: ids.read,
    achievement_id: ids.read,
    company_id: (cell) => (ids.isNone(cell) ? undefined : ids.read(cell)),
    company_role: toOptionalText,
    public: (cell) => (cell instanceof Uint8Array && !hasBits ? cell : toPublic(cell)),
    name: (cell) => (isSpreadsheet ? withoutFormula(toText(cell)) : toText(cell)),
    avatar_url: toOptionalText,
    created_at: (cell) => toTime(cell, format.orderOf?.("created_at")),
    unlocked_at: (cell) => toTime(cell, format.orderOf?.("unlocked_at")),
    hierarchy: toInteger,
    tier: toInteger,
    points: toInteger,
    member_count: toInteger,
  };
  return (row) => {
    const fields: RawRecord = {};
    for (const name in row) {
      if (name === "line") continue;
      const value = (converters[name] ?? toText)(row[name]);
      // Without undefined values, so that validation reports what is missing.
      if (value !== undefined) fields[name] = value;
    }
    return fields;
  };
}

/** The form of ids: integers or, with an id map, keys, which can be of any kind. */
export interface IdFormat {
  /** Reads an id from a cell. Returns anything else unchanged, so that validation quotes it. */
  read(cell: unknown): unknown;
  /** Whether a cell refers to nothing, such as 0. */
  isNone(cell: unknown): boolean;
  /** Whether what `read` has returned is an id. */
  isId(value: unknown): value is number | string;
}

export const integerIds: IdFormat = {
  read: toInteger,
  isNone: (cell) => !toInteger(cell),
  isId: (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
};

export const keyIds: IdFormat = {
  read: (cell) => toKey(cell) ?? toInteger(cell),
  isNone: (cell) => !(cell instanceof Uint8Array) && !toInteger(cell),
  isId: (value): value is number | string => toKey(value) !== undefined,
};

/** Allows decimals of zeros. In "1.000" and "1,000", they may be the end of a thousand. */
const DECIMAL = /^(?!-?[1-9]\d{0,2}[.,]000$)(-?\d{1,100})(?:[.,]0*)?$/;

/** Returns undefined for null and for empty text. An integer beyond 2^53 becomes a bigint. */
export function toInteger(cell: unknown): unknown {
  const value = trimmed(decoded(cell));
  const [, digits] = DECIMAL.exec(String(value)) ?? [];
  if (digits === undefined) return value === "" ? undefined : value;
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
}

// Databases and people write these words, and spreadsheets in the languages of the page.
const TRUE = ["1", ...Object.values(languages).flatMap(({ booleans }) => booleans.true)];
const FALSE = ["0", ...Object.values(languages).flatMap(({ booleans }) => booleans.false)];

export function toPublic(cell: unknown): unknown {
  // MySQL's literal b'1' arrives as the byte 1, and its BIT(1) as a boolean.
  const value = cell instanceof Uint8Array && cell.length === 1 ? cell[0] : trimmed(cell);
  // As text, an array of one element would look like that element.
  const text = typeof value === "object" ? "" : String(value).toLowerCase();
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : value;
}

/** Returns undefined for null. */
function toText(cell: unknown): unknown {
  if (typeof cell === "number" || typeof cell === "bigint") return String(cell);
  return decoded(cell) ?? undefined;
}

/** Decodes bytes that are text, such as MySQL's binary strings. */
function decoded(cell: unknown): unknown {
  return cell instanceof Uint8Array && isUtf8(cell) ? Buffer.from(cell).toString() : cell;
}

/** Like {@link toText}, but trims text, and returns undefined if it is empty. */
function toOptionalText(cell: unknown): unknown {
  return trimmed(toText(cell)) || undefined;
}

/** In a database, this text can be somebody's name. */
function withoutFormula(text: unknown): unknown {
  return isFormulaError(text) ? new FormulaError(String(text)) : text;
}

const SECONDS = /^-?\d{1,100}(?:[.,]\d*)?$/;
const DOTTED = /^(\d\d?)\. ?(\d\d?)\. ?(\d{4})/;
const YEAR_FIRST = /^(\d{4})\/(\d\d?)\/(\d\d?)(?!\d)/;
const SLASHED = /^(\d\d?)\/(\d\d?)\/(\d{4})(?:,(?= )|(?!\d))/;
const TWELVE_HOURS = / +(0?[1-9]|1[0-2])((?::\d\d){1,2}) ?([AP])M$/i;
const TIME =
  /^([\d-]{10})(?:[T ] *(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?)? ?(?:Z|([+-]\d\d):?(\d\d)?)?$/i;
const two = (digits: string) => digits.padStart(2, "0");

/**
 * Reads dates such as 31.5.2021, with or without a time of day and a zone, and Unix seconds. Dates
 * such as 5/31/2021 need the order of day and month.
 */
export function toTime(cell: unknown, order?: DateOrder): unknown {
  if (cell instanceof Date) {
    const year = cell.getUTCFullYear();
    // MySQL's dates without a month or a day become invalid.
    if (Number.isNaN(year)) return "0000-00-00";
    return year >= 0 && year <= 9999 ? formatTime(cell.getTime() / 1000) : String(cell);
  }
  const value = trimmed(decoded(cell));
  const text = String(value);
  if (SECONDS.test(text)) {
    const seconds = Number(text.replace(",", "."));
    return seconds >= 1e8 && seconds < 1e11 ? formatTime(seconds) : seconds;
  }
  const isSlashed = order !== undefined && SLASHED.test(text);
  const iso = isSlashed ? fromSlashes(text, order) : yearFirst(text);
  const [, date, hour = "00", minute = "00", second = "00", sign = "+00", rest = "00"] =
    TIME.exec(iso) ?? [];
  const time = `${date}T${two(hour)}:${minute}:${second}${sign}:${rest}`;
  return parseTime(time) === undefined ? value || undefined : time;
}

function yearFirst(text: string): string {
  if (text.includes("/")) {
    return text.replace(YEAR_FIRST, (_, year, month, day) => `${year}-${two(month)}-${two(day)}`);
  }
  return text.replace(DOTTED, (_, day, month, year) => `${year}-${two(month)}-${two(day)}`);
}

/** Reads a date with slashes. Its time of day may have twelve hours, as in 9:05 PM. */
function fromSlashes(text: string, order: DateOrder): string {
  return text
    .replace(SLASHED, (_, first, second, year) => {
      const day = order === "dmy" ? first : second;
      const month = order === "dmy" ? second : first;
      return `${year}-${two(month)}-${two(day)}`;
    })
    .replace(TWELVE_HOURS, (_, hours, rest, half) => {
      return ` ${(Number(hours) % 12) + (/p/i.test(half) ? 12 : 0)}${rest}`;
    });
}

/** Removes the space around text, and returns undefined for null. */
function trimmed(cell: unknown): unknown {
  return typeof cell === "string" ? cell.trim() : (cell ?? undefined);
}
