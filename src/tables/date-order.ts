/**
 * Dates such as 5/6/2021 and 5.6.2021, which spreadsheets write in the order of their country. A CSV
 * file does not name its country, so all values of a column decide together. Never guesses, except
 * that a column of dots alone has the day first.
 */
export const dateOrders = ["dmy", "mdy"] as const;
export type DateOrder = (typeof dateOrders)[number];

/** Such dates, without space before them. */
export const SLASHED = /^(\d\d?)\/(\d\d?)\/(\d{4})(?:,(?= )|(?!\d))/;
export const DOTTED = /^(\d\d?)\. ?(\d\d?)\. ?(\d{4})(?!\d)/;

/** The orders in a column. */
export interface DateOrders {
  slashes?: DateOrder | undefined;
  dots?: DateOrder | undefined;
}

/** The lines of the first value that fits only one order, and of the first that fits both. */
type FirstLines = Partial<Record<DateOrder | "both", number>>;

/** Learns from the values of one column. */
export class DateColumn {
  readonly #slashes: FirstLines = {};
  readonly #dots: FirstLines = {};

  add(cell: string, line: number): void {
    if (cell.includes("/")) learn(this.#slashes, SLASHED.exec(cell.trim()), line);
    else if (cell.includes(".")) learn(this.#dots, DOTTED.exec(cell.trim()), line);
  }

  /**
   * Returns no order where no value needs one. Throws if the values do not tell, unless the order is
   * `given`. The error names the column, and quotes no value, because it may be a private user's.
   */
  decide(column: string, given: DateOrder | undefined): DateOrders {
    if (given) return { slashes: given, dots: given };
    return {
      slashes: decideOrder(column, this.#slashes),
      dots: decideOrder(column, this.#dots, "dmy"),
    };
  }

  /** Says how the dates are read, by an example that nobody has written. */
  describe(column: string, { slashes, dots }: DateOrders): string[] {
    const read = (lines: FirstLines, example: string, order: DateOrder | undefined) => {
      const date = order === "mdy" ? "5 August" : "8 May";
      const isRead = Object.keys(lines).length > 0;
      return isRead ? [`${column}: read dates like ${example} as ${date} 2021`] : [];
    };
    return [...read(this.#slashes, "08/05/2021", slashes), ...read(this.#dots, "08.05.2021", dots)];
  }
}

function learn(lines: FirstLines, date: RegExpExecArray | null, line: number): void {
  const order = date && fittingOrder(Number(date[1]), Number(date[2]));
  if (order) lines[order] ??= line;
}

/** `usual` is the order of values that fit both. */
function decideOrder(
  column: string,
  { dmy, mdy, both }: FirstLines,
  usual?: DateOrder,
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
  if (first > 12) return second > 12 ? undefined : "dmy";
  return second > 12 ? "mdy" : "both";
}

const CHOOSE = "say which comes first with --dates dmy or --dates mdy";
