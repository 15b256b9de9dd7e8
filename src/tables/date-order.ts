/**
 * Dates such as 5/6/2021, which spreadsheets write in the order of their country. A CSV file does not
 * name its country, so all values of a column decide together. Never guesses.
 */
export const dateOrders = ["dmy", "mdy"] as const;
export type DateOrder = (typeof dateOrders)[number];

/** Such a date, without space before it. */
export const SLASHED = /^(\d\d?)\/(\d\d?)\/(\d{4})(?:,(?= )|(?!\d))/;

/** Learns from the values of one column. */
export class DateColumn {
  /** The lines of the first value that fits only one order, and of the first that fits both. */
  readonly #lines: Partial<Record<DateOrder | "both", number>> = {};

  add(cell: string, line: number): void {
    const [, first, second] = (cell.includes("/") && SLASHED.exec(cell.trim())) || [];
    if (first === undefined) return;

    const order = fittingOrder(Number(first), Number(second));
    if (order !== undefined) this.#lines[order] ??= line;
  }

  /**
   * Returns undefined if no value needs an order. Throws if the values do not tell. The error quotes
   * none, because it may be a private user's.
   */
  decide(): DateOrder | undefined {
    const { dmy, mdy, both } = this.#lines;
    if (dmy !== undefined && mdy !== undefined) {
      const problem = `line ${dmy} has the day first, and line ${mdy} the month`;
      throw new Error(`${problem}; correct one of them, or ${CHOOSE}`);
    }
    if (dmy !== undefined) return "dmy";
    if (mdy !== undefined) return "mdy";
    if (both === undefined) return undefined;
    throw new Error(`nothing shows which number is the month, as in line ${both}; ${CHOOSE}`);
  }
}

/** Returns undefined if the numbers fit no order: an error of the row. */
function fittingOrder(first: number, second: number): DateOrder | "both" | undefined {
  if (first > 12) return second > 12 ? undefined : "dmy";
  return second > 12 ? "mdy" : "both";
}

const CHOOSE = "say which comes first with --dates dmy or --dates mdy";
