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

/** Learns from the values of one column. */
export class DateColumn {
  readonly #slashes = new Orders();
  readonly #dots = new Orders();

  add(cell: string, line: number): void {
    if (cell.includes("/")) this.#slashes.add(SLASHED.exec(cell.trim()), line);
    else if (cell.includes(".")) this.#dots.add(DOTTED.exec(cell.trim()), line);
  }

  /**
   * Returns no order where no value needs one. Throws if the values do not tell, unless the order is
   * `given`. The error names the column, and quotes no value, because it may be a private user's.
   */
  decide(column: string, given: DateOrder | undefined): DateOrders {
    if (given) return { slashes: given, dots: given };
    const slashes = this.#slashes.decide(column, undefined);
    return { slashes, dots: this.#dots.decide(column, "dmy") };
  }

  /** Says how the dates are read, by an example that nobody has written. */
  describe(column: string, { slashes, dots }: DateOrders): string[] {
    const read = (separator: string, order: DateOrder | undefined) => {
      const example = ["08", "05", "2021"].join(separator);
      return `${column}: read dates like ${example} as ${order === "mdy" ? "5 August" : "8 May"} 2021`;
    };
    return [
      ...(this.#slashes.isEmpty ? [] : [read("/", slashes)]),
      ...(this.#dots.isEmpty ? [] : [read(".", dots)]),
    ];
  }
}

/** The dates of a column that have the same separator. */
class Orders {
  /** The lines of the first value that fits only one order, and of the first that fits both. */
  readonly #lines: Partial<Record<DateOrder | "both", number>> = {};

  get isEmpty(): boolean {
    return Object.keys(this.#lines).length === 0;
  }

  add(date: RegExpExecArray | null, line: number): void {
    const order = date && fittingOrder(Number(date[1]), Number(date[2]));
    if (order) this.#lines[order] ??= line;
  }

  /** `usual` is the order of values that fit both. */
  decide(column: string, usual: DateOrder | undefined): DateOrder | undefined {
    const { dmy, mdy, both } = this.#lines;
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
}

/** Returns undefined if the numbers fit no order: an error of the row. */
function fittingOrder(first: number, second: number): DateOrder | "both" | undefined {
  if (first > 12) return second > 12 ? undefined : "dmy";
  return second > 12 ? "mdy" : "both";
}

const CHOOSE = "say which comes first with --dates dmy or --dates mdy";
