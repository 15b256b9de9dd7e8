/**
 * The times in cells, and the order of day and month in dates such as 5/6/2021 and 5.6.2021, which
 * spreadsheets write in the order of their country. A CSV file does not name its country, so all values
 * of a column decide together. Never guesses, except that a column of dots alone has the day first.
 */
import { formatTime, parseTime } from "../domain/time.ts";
import { InvalidCell } from "../domain/validation-errors.ts";

export const dateOrders = ["dmy", "mdy"] as const;
export type DateOrder = (typeof dateOrders)[number];

/** The two ways to write such dates, and the order that is usual. */
const styles = {
  slashes: {
    pattern: /^\s*(\d\d?)\/(\d\d?)\/(\d{4})(?!\d)/,
    example: "08/05/2021",
    usual: undefined,
  },
  dots: {
    pattern: /^\s*(\d\d?)\. ?(\d\d?)\. ?(\d{4})(?!\d)/,
    example: "08.05.2021",
    usual: "dmy",
  },
} as const;
type Style = keyof typeof styles;

/** The order in each way; undefined for one that has none. */
export type DateOrders = Partial<Record<Style, DateOrder | undefined>>;
const USUAL: DateOrders = { dots: styles.dots.usual };

/** The lines of the first value that fits only one order, and of the first that fits both. */
type FirstLines = Partial<Record<DateOrder | "both", number>>;

/** Learns from the values of one column. */
export class DateColumn {
  readonly #lines: Record<Style, FirstLines> = { slashes: {}, dots: {} };

  add(cell: string, line: number): void {
    const style = cell.includes("/") ? "slashes" : "dots";
    const date = styles[style].pattern.exec(cell);
    const order = date && fittingOrder(Number(date[1]), Number(date[2]));
    if (order) this.#lines[style][order] ??= line;
  }

  /**
   * Returns no order where no value needs one. Throws if the values do not tell, unless the order is
   * `given`. The error names the column, and quotes no value, because it may be a private user's. The
   * notes say how dates are read, by an example that nobody has written.
   */
  decide(column: string, given: DateOrder | undefined): { orders: DateOrders; notes: string[] } {
    const orders: DateOrders = {};
    const notes: string[] = [];
    for (const style of ["slashes", "dots"] as const) {
      const { example, usual } = styles[style];
      const lines = this.#lines[style];
      orders[style] = given ?? decideOrder(column, lines, usual);
      if (Object.keys(lines).length === 0) continue;
      const date = orders[style] === "mdy" ? "5 August" : "8 May";
      notes.push(`${column}: read dates like ${example} as ${date} 2021`);
    }
    return { orders, notes };
  }
}

function decideOrder(
  column: string,
  { dmy, mdy, both }: FirstLines,
  usual: DateOrder | undefined,
): DateOrder | undefined {
  if (dmy !== undefined && mdy !== undefined) {
    const problem = `line ${dmy} has the day first, and line ${mdy} the month`;
    throw new Error(`${column}: ${problem}; correct one of them, or ${CHOOSE}`);
  }
  if (dmy !== undefined) return "dmy";
  if (mdy !== undefined) return "mdy";
  if (both === undefined || usual !== undefined) return usual;
  const problem = "nothing shows which number is the month";
  throw new Error(`${column}: ${problem}, as in line ${both}; ${CHOOSE}`);
}

/** Returns undefined if the numbers fit no order: an error of the row. */
function fittingOrder(first: number, second: number): DateOrder | "both" | undefined {
  const canBeDmy = isDay(first) && isMonth(second);
  const canBeMdy = isMonth(first) && isDay(second);
  if (canBeDmy && canBeMdy) return "both";
  if (canBeDmy) return "dmy";
  return canBeMdy ? "mdy" : undefined;
}

const isDay = (number: number) => number >= 1 && number <= 31;
const isMonth = (number: number) => number >= 1 && number <= 12;

const CHOOSE = "say which comes first with --dates dmy or --dates mdy";

const SECONDS = /^-?\d{1,100}(?:[.,]\d*)?$/;
/** As MediaWiki writes them. */
const DIGITS = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/;
const YEAR_FIRST = /^(\d{4})\/(\d\d?)\/(\d\d?)(?!\d)/;
const TWELVE_HOURS = / +(0?[1-9]|1[0-2])((?::\d\d){1,2}) ?([AP])M(?!\w)/i;
const TIME =
  /^([\d-]{10})(?:(?:T|,? ) *(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?)? ?(?:Z|UTC|GMT|([+-]\d\d):?(\d\d)?)?$/i;
const two = (digits: string) => digits.padStart(2, "0");

/**
 * Reads dates such as 31.5.2021, with or without a time of day and a zone, Unix seconds, and times
 * of 14 digits. Dates such as 5/31/2021 need the order of day and month.
 */
export function toTime(value: unknown, orders = USUAL): unknown {
  if (value === undefined || value === "") return undefined;
  if (value instanceof Date) return fromDate(value);

  const text = typeof value === "object" ? "" : String(value);
  const time = SECONDS.test(text) ? fromNumber(text) : completed(ordered(text, orders));
  return time ?? new InvalidCell(value, A_TIME, adviseOnTime(text));
}

/** Reads a date type. MySQL's dates without a month or a day arrive as an invalid one. */
function fromDate(date: Date): unknown {
  const year = date.getUTCFullYear();
  if (year >= 0 && year <= 9999) return formatTime(date.getTime() / 1000);
  const text = Number.isNaN(year) ? "0000-00-00" : String(date);
  return new InvalidCell(text, A_TIME, adviseOnTime(text));
}

function fromNumber(text: string): string | undefined {
  const [digits, ...parts] = DIGITS.exec(text) ?? [];
  if (digits !== undefined && digits >= "1990") {
    const [year, month, day, hour, minute, second] = parts;
    return completed(`${year}-${month}-${day} ${hour}:${minute}:${second}`);
  }

  const seconds = Number(text.replace(",", "."));
  return seconds >= 1e8 && seconds < 1e11 ? formatTime(seconds) : undefined;
}

/** Adds midnight and UTC where they are missing. Returns undefined if the text is no time. */
function completed(text: string): string | undefined {
  const [, date, hour = "00", minute = "00", second = "00", zone = "+00", zoneMinute = "00"] =
    TIME.exec(text) ?? [];
  const time = `${date}T${two(hour)}:${minute}:${second}${zone}:${zoneMinute}`;
  return parseTime(time) === undefined ? undefined : time;
}

/** Writes a date with the year first, and hours up to 24 where they are up to 12, as in 9:05 PM. */
function ordered(text: string, orders: DateOrders): string {
  return withYearFirst(withYearFirst(text, "slashes", orders), "dots", orders)
    .replace(YEAR_FIRST, (_, year, month, day) => `${year}-${two(month)}-${two(day)}`)
    .replace(TWELVE_HOURS, (_, hours, rest, half) => {
      return ` ${(Number(hours) % 12) + (/p/i.test(half) ? 12 : 0)}${rest}`;
    });
}

function withYearFirst(text: string, style: Style, { [style]: order }: DateOrders): string {
  if (order === undefined) return text;
  return text.replace(styles[style].pattern, (_, first: string, second: string, year: string) => {
    const [day, month] = order === "dmy" ? [first, second] : [second, first];
    return `${year}-${two(month)}-${two(day)}`;
  });
}

const A_TIME = "a date or a time";
const NO_DATE =
  "; it stands for no date: select NULL, and leave out such users or give them the platform's first day";
const SPREADSHEET_DATE =
  "; it looks like a spreadsheet's own date: format the column as 2021-05-31";

function adviseOnTime(text: string): string {
  if (/^0000-00-00|^00[/.]00[/.]0000|^-?infinity$/i.test(text)) return NO_DATE;
  const number = SECONDS.test(text) ? Number(text.replace(",", ".")) : Number.NaN;
  if (number <= 0) return NO_DATE;
  if (number < 1e8) return SPREADSHEET_DATE;
  if (number >= 1e11) return "; it looks like milliseconds: divide it by 1,000";
  return "; write it as 2021-05-31, 2021-05-31 17:05, 31.5.2021 or Unix seconds";
}
