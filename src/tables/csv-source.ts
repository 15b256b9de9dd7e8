/** Reads tables from CSV files. Loads them into a temporary database, because their rows are in any order. */
import { sqlite } from "#sqlite";
import { naming, TEMPORARY_DATABASE } from "../files/errors.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import type { CellFormat, IdFormat } from "./cells.ts";
import { type Header, keyOf, type TableName } from "./columns.ts";
import { CsvFile, type FileOptions, type RowHandler, SAVE_AS_UTF8 } from "./csv-file.ts";
import { DateColumn, type DateOrder, type DateOrders } from "./date-order.ts";
import { dialects, type Row, type Selected, type TableSource } from "./table-source.ts";

/** The key is a column of users. */
export interface CsvOptions extends FileOptions {
  /** The order of day and month, where a column does not show it. */
  dates?: DateOrder | undefined;
}

export class CsvSource implements TableSource {
  /** That of the temporary database. */
  readonly dialect = dialects.sqlite;
  readonly cells: CellFormat;
  readonly hasLines = true;
  readonly notes: string[] = [];
  readonly #db: Sqlite;
  readonly #ids: IdFormat;
  readonly #options: CsvOptions;
  readonly #files = new Map<TableName, string>();
  /** The order of day and month in each column with times. */
  readonly #orders = new Map<string, DateOrders>();

  constructor(ids: IdFormat, options: CsvOptions) {
    this.#ids = ids;
    this.#options = options;
    this.cells = { isSpreadsheet: true, orderOf: (column) => this.#orders.get(column) };
    this.#db = sqlite.openTemporary().$client;
    this.#db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  }

  async open(name: TableName, path: string): Promise<Selected> {
    const { dates, quotes, key } = this.#options;
    const file = new CsvFile(name, path, { quotes, key: name === "users" ? key : undefined });
    this.#files.set(name, file.name);
    const table = new CsvLoader(this.#db, name, this.#ids);
    const note = await naming(TEMPORARY_DATABASE, "write", () => file.read(table));
    if (note !== undefined) this.notes.push(note);

    table.finish(file.name);
    for (const [column, found] of table.dated) {
      const place = `${file.name}: ${column}`;
      const orders = found.decide(place, dates);
      this.#orders.set(column, orders);
      this.notes.push(...found.describe(place, orders));
    }
    return { header: table.header, from: name };
  }

  async run(sql: string): Promise<Row[]> {
    return naming(TEMPORARY_DATABASE, "write", async () => this.#db.prepare<Row>(sql).all());
  }

  fileOf(table: TableName): string {
    return this.#files.get(table) ?? `${table}.csv`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#db.close();
  }
}

/** Loads one file into a table of the database. */
class CsvLoader implements RowHandler {
  header: Header = { columns: new Map(), unknown: [] };
  /** The columns with times. */
  readonly dated = new Map<string, DateColumn>();
  readonly #db: Sqlite;
  readonly #table: TableName;
  readonly #ids: IdFormat;
  #insert: ReturnType<Sqlite["prepare"]> | undefined;
  #names = 0;
  /** How many names have no letter, but question marks. */
  #questionable = 0;

  constructor(db: Sqlite, table: TableName, ids: IdFormat) {
    this.#db = db;
    this.#table = table;
    this.#ids = ids;
  }

  begin(header: Header): void {
    const columns = [...header.columns.keys()];
    for (const name of columns.filter((name) => name.endsWith("_at"))) {
      this.dated.set(name, new DateColumn());
    }

    this.header = header;
    this.#db.exec(`CREATE TABLE ${this.#table} (${columns}, line)`);
    const values = columns.map(() => "?");
    this.#insert = this.#db.prepare(`INSERT INTO ${this.#table} VALUES (${values}, ?)`);
  }

  add(cells: readonly string[], line: number): void {
    const key = keyOf(this.#table);
    const values = Array.from(this.header.columns, ([name, at]) => {
      this.dated.get(name)?.add(cells[at] ?? "", line);
      if (name === "name") this.#countName(cells[at]);
      const id = name === key && this.#ids.read(cells[at]);
      return typeof id === "number" || typeof id === "string" ? id : cells[at] || null;
    });
    this.#insert?.run(...values, line);
  }

  /** Throws if most names are question marks. */
  finish(file: string): void {
    if (this.#questionable > 2 && 2 * this.#questionable > this.#names) {
      throw new Error(`${file}: most names are question marks; ${SAVE_AS_UTF8}`);
    }
    this.#createIndex();
  }

  #countName(name = ""): void {
    if (name !== "") this.#names++;
    if (name.includes("?") && !/[\p{L}\p{N}]/u.test(name)) this.#questionable++;
  }

  /**
   * The index has all columns, so that a page is read from one place. Rows with the same id are in
   * the order of their lines.
   */
  #createIndex(): void {
    const key = keyOf(this.#table);
    const others = [...this.header.columns.keys()].filter((name) => name !== key);
    const indexed = [key, "line", ...others];
    this.#db.exec(`CREATE INDEX ${this.#table}_by_id ON ${this.#table} (${indexed})`);
  }
}
