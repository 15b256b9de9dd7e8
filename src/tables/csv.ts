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
      await readRecords(table, path);
      return table.finish(orders, dates);
    },
    csv: { orderOf: (column) => orders.get(column) },
    run: async (sql) => ({ rows: $client.prepare<Row>(sql).all(), columns: [] }),
    [Symbol.asyncDispose]: async () => $client.close(),
  };
}

/** Adds the records of a file to its table. */
async function readRecords(table: CsvTable, path: string): Promise<void> {
  const texts = decode(table.file, readFileBytes(path));
  const { value: start = "" } = await texts.next();
  const parser = parse({
    delimiter: findDelimiter(start),
    max_record_size: MAX_ROW_BYTES,
    record_delimiter: "\n",
    relax_column_count: true,
    // The size of a record does not count its separators, and each field takes memory.
    cast(cell: string, { index }) {
      if (index < MAX_FIELDS) return cell;
      throw table.problem("has more than 1,000 fields");
    },
    on_record(cells: string[], { lines }) {
      table.add(cells, lines);
      return null;
    },
  });
  parser.write(start);

  try {
    await pipeline(texts, parser.resume());
  } catch (error) {
    const bad = "a quote is misplaced or never closed, or the record is longer than 1 MiB";
    throw error instanceof CsvError ? table.problem(bad) : error;
  }
}

/** The table that the records of a file become. The first record names its columns. */
class CsvTable {
  readonly file: string;
  readonly #db: Sqlite;
  readonly #name: TableName;
  readonly #key: string;
  readonly #toId: (cell: unknown) => unknown;
  readonly #dates = new Map<string, DateColumn>();
  #header: Header | undefined;
  #width = 0;
  #insert: ReturnType<Sqlite["prepare"]> | undefined;
  /** The line on which the last record ends. */
  #lines = 0;

  constructor(db: Sqlite, name: TableName, toId: (cell: unknown) => unknown) {
    this.file = `${name}.csv`;
    this.#db = db;
    this.#name = name;
    this.#key = keyOf(name);
    this.#toId = toId;
  }

  /** Adds a record that ends on the line `end`. */
  add(cells: string[], end: number): void {
    const isBlank = cells.every((cell) => cell.trim() === "");
    if (!isBlank && this.#header) this.#addRow(cells, this.#header);
    else if (!isBlank) this.#addHeader(cells);
    this.#lines = end;
  }

  /** An error in the record that is being read. */
  problem(reason: string): Error {
    return new Error(`${this.file}, line ${this.#lines + 1}: ${reason}`);
  }

  /** Decides the order of dates in each column, unless it is `known`, and adds it to `orders`. */
  finish(orders: Map<string, DateOrder | undefined>, known: DateOrder | undefined): Header {
    if (!this.#header) {
      throw new Error(`${this.file} is empty; its first line must name the columns`);
    }
    for (const [name, dates] of this.#dates) {
      try {
        orders.set(name, known ?? dates.decide());
      } catch (error) {
        throw new Error(`${this.file}: ${name}: ${reasonOf(error)}`);
      }
    }
    // The index has all columns, so that a page is read from one place. Rows with the same id are
    // in the order of their lines.
    const others = [...this.#header.places.keys()].filter((name) => name !== this.#key);
    const indexed = [this.#key, "line", ...others];
    this.#db.exec(`CREATE INDEX ${this.#name}_by_id ON ${this.#name} (${indexed})`);
    return this.#header;
  }

  #addHeader(cells: string[]): void {
    // Tells Excel the separator, which findDelimiter has found in this line.
    if (/^sep=.?$/i.test(cells.join(""))) return;
    this.#width = cells.findLastIndex((name) => name.trim() !== "") + 1;
    this.#header = readHeader(this.file, this.#name, cells.slice(0, this.#width));

    const columns = [...this.#header.places.keys()];
    for (const name of columns) if (name.endsWith("_at")) this.#dates.set(name, new DateColumn());
    this.#db.exec(`CREATE TABLE ${this.#name} (${columns}, line)`);
    const places = columns.map(() => "?");
    this.#insert = this.#db.prepare(`INSERT INTO ${this.#name} VALUES (${places}, ?)`);
  }

  #addRow(cells: string[], header: Header): void {
    if (cells.length < this.#width || cells.slice(this.#width).some((cell) => cell !== "")) {
      const counts = `has ${cells.length} fields, but the header has ${this.#width}`;
      throw this.problem(`${counts} (a field with a separator must be quoted)`);
    }
    const line = this.#lines + 1;
    const values = Array.from(header.places, ([name, at]) => {
      const cell = cells[at] ?? "";
      this.#dates.get(name)?.add(cell, line);
      const id = name === this.#key && this.#toId(cell);
      return typeof id === "number" || typeof id === "string" ? id : cell || null;
    });
    this.#insert?.run(...values, line);
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
