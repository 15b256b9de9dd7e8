/** Loads CSV files into a temporary database, in which rows in any order can be joined. */
import { pipeline } from "node:stream/promises";
import { CsvError, parse } from "csv-parse";
import { sqlite } from "#sqlite";
import { toKey } from "../domain/validation-errors.ts";
import { reasonOf } from "../files/errors.ts";
import { readFileBytes } from "../files/input.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { toInteger } from "./cells.ts";
import { type Header, keyOf, readHeader, type TableName } from "./columns.ts";
import { DateColumn, type DateOrder } from "./date-order.ts";
import type { Row, Source } from "./queries.ts";

const MAX_ROW_BYTES = 2 ** 20;
const MAX_FIELDS = 1000;

/** With `hasKeys`, ids are kept as text. `dates` is the order of days and months, if it is known. */
export function openCsv(hasKeys: boolean, dates?: DateOrder): Source {
  // An empty path stands for a temporary file, which SQLite deletes.
  const { $client } = sqlite.openWritable("");
  $client.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  const orders = new Map<string, DateOrder | undefined>();
  return {
    ending: "csv",
    dialect: "sqlite",
    async load(name, path) {
      const table = new CsvTable($client, name, hasKeys ? toKey : toInteger);
      const header = await table.load(path);
      for (const [column, found] of table.dated) {
        orders.set(column, dates ?? decideDates(`${name}.csv: ${column}`, found));
      }
      return header;
    },
    csv: { orderOf: (column) => orders.get(column) },
    run: async (sql) => ({ rows: $client.prepare<Row>(sql).all(), columns: [] }),
    [Symbol.asyncDispose]: async () => $client.close(),
  };
}

function decideDates(place: string, found: DateColumn): DateOrder | undefined {
  try {
    return found.decide();
  } catch (error) {
    throw new Error(`${place}: ${reasonOf(error)}`);
  }
}

/** Loads one file into a table of the database. */
class CsvTable {
  /** The columns with times. */
  readonly dated = new Map<string, DateColumn>();
  readonly #db: Sqlite;
  readonly #name: TableName;
  readonly #toId: (cell: unknown) => unknown;
  #header: Header | undefined;
  #insert: ReturnType<Sqlite["prepare"]> | undefined;
  /** The number of columns up to the last one with a name. */
  #width = 0;
  /** The line on which the last record ends. */
  #lines = 0;

  constructor(db: Sqlite, name: TableName, toId: (cell: unknown) => unknown) {
    this.#db = db;
    this.#name = name;
    this.#toId = toId;
  }

  async load(path: string): Promise<Header> {
    const file = `${this.#name}.csv`;
    const texts = decode(file, readFileBytes(path));
    const { value: start = "" } = await texts.next();
    const parser = this.#createParser(findDelimiter(start));
    parser.write(start);
    try {
      await pipeline(texts, parser.resume());
    } catch (error) {
      const bad = "a quote is misplaced or never closed, or the record is longer than 1 MiB";
      throw error instanceof CsvError ? this.#problem(bad) : error;
    }

    const header = this.#header;
    if (!header) throw new Error(`${file} is empty; its first line must name the columns`);
    // The index has all columns, so that a page is read from one place. Rows with the same id are in
    // the order of their lines.
    const key = keyOf(this.#name);
    const others = [...header.places.keys()].filter((name) => name !== key);
    this.#db.exec(
      `CREATE INDEX ${this.#name}_by_id ON ${this.#name} (${[key, "line", ...others]})`,
    );
    return header;
  }

  #createParser(delimiter: string) {
    return parse({
      delimiter,
      max_record_size: MAX_ROW_BYTES,
      record_delimiter: "\n",
      relax_column_count: true,
      // The size of a record does not count its separators, and each field takes memory.
      cast: (cell: string, { index }) => {
        if (index < MAX_FIELDS) return cell;
        throw this.#problem("has more than 1,000 fields");
      },
      on_record: (cells: string[], context) => {
        // Spreadsheets write empty rows, too.
        if (cells.some((cell) => cell.trim() !== "")) this.#add(cells);
        this.#lines = context.lines;
        return null;
      },
    });
  }

  #add(cells: string[]): void {
    if (this.#header) this.#addRow(cells, this.#header);
    // Tells Excel the separator, which findDelimiter has found in this line.
    else if (!/^sep=.?$/i.test(cells.join(""))) this.#header = this.#createTable(cells);
  }

  #createTable(titles: string[]): Header {
    this.#width = titles.findLastIndex((title) => title.trim() !== "") + 1;
    const header = readHeader(`${this.#name}.csv`, this.#name, titles.slice(0, this.#width));
    const columns = [...header.places.keys()];
    for (const name of columns) if (name.endsWith("_at")) this.dated.set(name, new DateColumn());
    this.#db.exec(`CREATE TABLE ${this.#name} (${columns}, line)`);
    const values = columns.map(() => "?");
    this.#insert = this.#db.prepare(`INSERT INTO ${this.#name} VALUES (${values}, ?)`);
    return header;
  }

  #addRow(cells: string[], { places }: Header): void {
    if (cells.length < this.#width || cells.slice(this.#width).some((cell) => cell !== "")) {
      const counts = `has ${cells.length} fields, but the header has ${this.#width}`;
      throw this.#problem(`${counts} (a field with a separator must be quoted)`);
    }
    const key = keyOf(this.#name);
    const line = this.#lines + 1;
    const values = Array.from(places, ([name, at]) => {
      this.dated.get(name)?.add(cells[at] ?? "", line);
      const id = name === key && this.#toId(cells[at]);
      return typeof id === "number" || typeof id === "string" ? id : cells[at] || null;
    });
    this.#insert?.run(...values, line);
  }

  #problem(reason: string): Error {
    return new Error(`${this.#name}.csv, line ${this.#lines + 1}: ${reason}`);
  }
}

/** Returns the most frequent separator of the first line that is not blank. */
function findDelimiter(text: string): string {
  const header = text.split("\n").find((line) => /[^\s,;"]/.test(line)) ?? "";
  const count = (delimiter: string) => header.split(delimiter).length;
  return [",", ";", "\t"].reduce((best, other) => (count(other) > count(best) ? other : best));
}

/**
 * Decodes UTF-8 and drops a BOM. Lines then end with a line feed: csv-parse would count each CR as a
 * line. If the first line ends with a CR alone, all lines do; otherwise such a CR is a space.
 */
async function* decode(file: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let held = "";
  let loneReturn: string | undefined;
  try {
    for await (const chunk of bytes) {
      const text = held + utf8.decode(chunk, { stream: true });
      const whole = text.replace(/\r+$/, "");
      // Belongs to what follows.
      held = text.slice(whole.length);
      const [end] = /\r+\n|\r|\n/.exec(whole) ?? [];
      if (end !== undefined) loneReturn ??= end === "\r" ? "\n" : " ";
      yield whole.replace(/\r+\n/g, "\n").replaceAll("\r", loneReturn ?? " ");
    }
    yield utf8.decode();
  } catch (error) {
    const problem = new Error(`${file} is not valid UTF-8; save it as CSV UTF-8`);
    throw error instanceof TypeError ? problem : error;
  }
}
