/** Reads tables from CSV files. Loads them into a temporary database, because their rows are in any order. */
import { pipeline } from "node:stream/promises";
import { CsvError, parse } from "csv-parse";
import { sqlite } from "#sqlite";
import { isNoValue } from "../domain/no-value.ts";
import { naming, reasonOf, TEMPORARY_DATABASE } from "../files/errors.ts";
import { readFileBytes } from "../files/input.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import type { CellFormat, IdFormat } from "./cells.ts";
import { findColumns, type Header, keyOf, type TableName } from "./columns.ts";
import { DateColumn, type DateOrder, type DateOrders } from "./date-order.ts";
import { dialects } from "./dialects.ts";
import type { Row, Selected, TableSource } from "./table-source.ts";

const MAX_ROW_BYTES = 2 ** 20;
const MAX_FIELDS = 1000;

export class CsvSource implements TableSource {
  /** That of the temporary database. */
  readonly dialect = dialects.sqlite;
  readonly cells: CellFormat;
  readonly hasLines = true;
  readonly #db: Sqlite;
  readonly #ids: IdFormat;
  /** The order of day and month in all columns, if the operator has given it. */
  readonly #givenOrder: DateOrder | undefined;
  /** The order of day and month in each column with times. */
  readonly #orders = new Map<string, DateOrders>();

  constructor(ids: IdFormat, givenOrder: DateOrder | undefined) {
    this.#ids = ids;
    this.#givenOrder = givenOrder;
    this.cells = { isSpreadsheet: true, orderOf: (column) => this.#orders.get(column) };
    this.#db = sqlite.openTemporary().$client;
    this.#db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  }

  async open(name: TableName, path: string): Promise<Selected> {
    const table = new CsvTable(this.#db, name, this.#ids);
    const header = await naming(TEMPORARY_DATABASE, "write", () => table.load(path));
    for (const [column, found] of table.dated) {
      const given = this.#givenOrder && { slashes: this.#givenOrder, dots: this.#givenOrder };
      this.#orders.set(column, given ?? decideDates(`${name}.csv: ${column}`, found));
    }
    return { header, from: name };
  }

  async run(sql: string): Promise<Row[]> {
    return naming(TEMPORARY_DATABASE, "write", async () => this.#db.prepare<Row>(sql).all());
  }

  fileOf(table: TableName): string {
    return `${table}.csv`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#db.close();
  }
}

function decideDates(column: string, found: DateColumn): DateOrders {
  try {
    return found.decide();
  } catch (error) {
    throw new Error(`${column}: ${reasonOf(error)}`);
  }
}

/** The table of the database, which the header has defined. */
interface LoadedTable {
  header: Header;
  /** The number of columns up to the last one with a name. */
  width: number;
  insert: ReturnType<Sqlite["prepare"]>;
}

/** Loads one file into a table of the database. */
class CsvTable {
  /** The columns with times. */
  readonly dated = new Map<string, DateColumn>();
  readonly #db: Sqlite;
  readonly #name: TableName;
  readonly #ids: IdFormat;
  /** Undefined until the header has been read. */
  #table: LoadedTable | undefined;
  /** The line on which the last record ends. */
  #lines = 0;

  constructor(db: Sqlite, name: TableName, ids: IdFormat) {
    this.#db = db;
    this.#name = name;
    this.#ids = ids;
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
      if (!(error instanceof CsvError)) throw error;
      const tooLong = `the record is longer than ${MAX_ROW_BYTES / 2 ** 20} MiB`;
      throw this.#problem(`a quote is misplaced or never closed, or ${tooLong}`);
    }
    if (!this.#table) throw new Error(`${file} is empty; its first line must name the columns`);

    this.#createIndex(this.#table.header);
    return this.#table.header;
  }

  #createParser(delimiter: string) {
    return parse({
      delimiter,
      max_record_size: MAX_ROW_BYTES,
      record_delimiter: "\n",
      relax_column_count: true,
      // The size of a record does not count its separators, and each field takes memory.
      cast: (cell: string, { index, quoting }) => {
        // In quotes, it is text, such as somebody's name.
        if (index < MAX_FIELDS) return !quoting && isNoValue(cell) ? "" : cell;
        throw this.#problem(`has more than ${MAX_FIELDS.toLocaleString("en")} fields`);
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
    if (this.#table) this.#addRow(cells, this.#table);
    // Tells Excel the separator, which findDelimiter has found in this line.
    else if (!/^sep=.?$/i.test(cells.join(""))) this.#table = this.#createTable(cells);
  }

  #createTable(titles: string[]): LoadedTable {
    const width = titles.findLastIndex((title) => title.trim() !== "") + 1;
    const header = findColumns(`${this.#name}.csv`, this.#name, titles.slice(0, width));
    const columns = [...header.columns.keys()];
    for (const name of columns.filter((name) => name.endsWith("_at"))) {
      this.dated.set(name, new DateColumn());
    }

    this.#db.exec(`CREATE TABLE ${this.#name} (${columns}, line)`);
    const values = columns.map(() => "?");
    const insert = this.#db.prepare(`INSERT INTO ${this.#name} VALUES (${values}, ?)`);
    return { header, width, insert };
  }

  /**
   * The index has all columns, so that a page is read from one place. Rows with the same id are in
   * the order of their lines.
   */
  #createIndex({ columns }: Header): void {
    const key = keyOf(this.#name);
    const others = [...columns.keys()].filter((name) => name !== key);
    const indexed = [key, "line", ...others];
    this.#db.exec(`CREATE INDEX ${this.#name}_by_id ON ${this.#name} (${indexed})`);
  }

  #addRow(cells: string[], { header, width, insert }: LoadedTable): void {
    if (cells.length < width || cells.slice(width).some((cell) => cell !== "")) {
      const counts = `has ${cells.length} fields, but the header has ${width}`;
      throw this.#problem(`${counts} (a field with a separator must be quoted)`);
    }

    const key = keyOf(this.#name);
    const line = this.#lines + 1;
    const values = Array.from(header.columns, ([name, at]) => {
      this.dated.get(name)?.add(cells[at] ?? "", line);
      const id = name === key && this.#ids.read(cells[at]);
      return typeof id === "number" || typeof id === "string" ? id : cells[at] || null;
    });
    insert.run(...values, line);
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
      // The line feed that belongs to a CR may be in the next chunk.
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
