/** Converts the dates and times that cells have to those of a dataset. */
import { formatTime, parseTime } from "../domain/time.ts";
import { asText, decoded, trimmed } from "./cell-text.ts";
import { type DateOrder, SLASHED } from "./date-order.ts";

const SECONDS = /^-?\d{1,100}(?:[.,]\d*)?$/;
const DOTTED = /^(\d\d?)\. ?(\d\d?)\. ?(\d{4})/;
const YEAR_FIRST = /^(\d{4})\/(\d\d?)\/(\d\d?)(?!\d)/;
const TWELVE_HOURS = / +(0?[1-9]|1[0-2])((?::\d\d){1,2}) ?([AP])M$/i;
const TIME =
  /^([\d-]{10})(?:[T ] *(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?)? ?(?:Z|([+-]\d\d):?(\d\d)?)?$/i;
const two = (digits: string) => digits.padStart(2, "0");

/**
 * Reads dates such as 31.5.2021, with or without a time of day and a zone, and Unix seconds. Dates
 * such as 5/31/2021 need the order of day and month.
 */
export function toTime(cell: unknown, order?: DateOrder): unknown {
  if (cell instanceof Date) return fromDate(cell);

  const value = trimmed(decoded(cell));
  const text = asText(value);
  if (SECONDS.test(text)) return fromSeconds(Number(text.replace(",", ".")));

  const isSlashed = order !== undefined && SLASHED.test(text);
  const time = completed(isSlashed ? fromSlashes(text, order) : yearFirst(text));
  return time ?? (value || undefined);
}

function fromDate(date: Date): string {
  const year = date.getUTCFullYear();
  // MySQL's dates without a month or a day become invalid.
  if (Number.isNaN(year)) return "0000-00-00";
  return year >= 0 && year <= 9999 ? formatTime(date.getTime() / 1000) : String(date);
}

/** Returns a number that is too small or too large unchanged; validation says what it may be. */
function fromSeconds(seconds: number): string | number {
  return seconds >= 1e8 && seconds < 1e11 ? formatTime(seconds) : seconds;
}

/** Adds midnight and UTC where they are missing. Returns undefined if the text is no time. */
function completed(text: string): string | undefined {
  const [, date, hour = "00", minute = "00", second = "00", zone = "+00", zoneMinute = "00"] =
    TIME.exec(text) ?? [];
  const time = `${date}T${two(hour)}:${minute}:${second}${zone}:${zoneMinute}`;
  return parseTime(time) === undefined ? undefined : time;
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
