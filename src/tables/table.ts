/**
 * The SQL around an operator's SELECT: reads the rows of a table in pages, by their id or by the id
 * of their user.
 */
import { setImmediate } from "node:timers/promises";
import { type Header, keyOf, type TableName } from "./columns.ts";
import { namingFile, type Row, type Selected, type TableSource } from "./table-source.ts";

export interface ReadHooks {
  /** Called repeatedly with the number of rows of a file that have been read. */
  onRead?: ((file: string, rows: number) => void) | undefined;
  /** Called once for each query of which a page takes longer than half a second. */
  onSlow?: ((file: string) => void) | undefined;
}

// The rows of a page are in memory. With 5,000 users, importing 400,000 took 334 instead of 257 MB.
const USERS_PER_PAGE = 1000;
const ROWS_PER_PAGE = 20_000;
/** A page of a query that uses an index takes a few milliseconds. */
const SLOW_MS = 500;

/**
 * The rows of an operator's query or CSV file. Their number is known before they are read, because the
 * pages have each of them once only if the database sorts ids as it compares them.
 */
export class Table {
  readonly name: TableName;
  readonly file: string;
  readonly header: Header;
  readonly #source: TableSource;
  /** The text that follows FROM. */
  readonly #from: string;
  /** The column that identifies a row, or the user of the row. */
  readonly #column: "id" | "user_id";
  readonly #hooks: ReadHooks;
  /** How many rows have an id. */
  #total = 0;
  /** How many of them the pages have had so far. */
  #read = 0;
  #isSlow = false;

  /** The source has opened the file of the table. Its rows must be counted before they are read. */
  constructor(source: TableSource, name: TableName, { header, from }: Selected, hooks: ReadHooks) {
    this.name = name;
    this.file = source.fileOf(name);
    this.header = header;
    this.#source = source;
    this.#from = from;
    this.#column = keyOf(name);
    this.#hooks = hooks;
  }

  async count(): Promise<void> {
    const [counted] = await this.query("", `COUNT(q.${this.#column}) AS total`);
    this.#total = Number(counted?.total);
  }

  async query(rest: string, columns = "*"): Promise<Row[]> {
    // Handles signals, because SQLite's queries are synchronous.
    await setImmediate();
    const sql = `SELECT ${columns} FROM ${this.#from} AS q ${rest}`;
    return namingFile(this.file, this.#source.run(sql));
  }

  /** Lists the rows without an id, which the pages leave out. */
  listWithoutId(): Promise<Row[]> {
    return this.query(`WHERE q.${this.#column} IS NULL`);
  }

  /**
   * Yields the rows whose id is above that of `after` and at most that of `upTo`, in the database's
   * order of their ids. Rows whose ids are equal for the database are in the same page.
   */
  async *pages(after?: Row, upTo?: Row): AsyncGenerator<Row[]> {
    const isById = this.#column === "id";
    const size = isById ? USERS_PER_PAGE : ROWS_PER_PAGE;
    const key = `q.${this.#column}`;
    const end = upTo ? ` AND ${key} <= ${this.#literalOf(upTo.id)}` : "";
    let start = after ? `${key} > ${this.#literalOf(after.id)}` : `${key} IS NOT NULL`;
    let isFull: boolean;

    do {
      if (isById) this.#hooks.onRead?.(this.file, this.#read);
      const rows = await this.#readPage(`WHERE ${start}${end} ORDER BY ${key}`, size + 1);
      isFull = rows.length > size;
      const page = isFull ? await this.#withTies(rows) : rows;

      this.#read += page.length;
      if (this.#read > this.#total) throw this.misordered();
      if (page.length > 0) yield page;
      start = `${key} > ${this.#literalOf(page.at(-1)?.[this.#column])}`;
    } while (isFull);

    if (isById) this.#hooks.onRead?.(this.file, this.#read);
  }

  /**
   * Whether the table has one of these ids. They are compared as text, which all databases do by its
   * bytes, whatever the types of the columns are.
   */
  async hasAny(ids: readonly (number | string)[]): Promise<boolean> {
    const { dialect } = this.#source;
    const texts = ids.map((id) => dialect.formatText(String(id)));
    const rows = await this.query(`WHERE ${dialect.cast("q.id")} IN (${texts}) LIMIT 1`, "q.id");
    return rows.length > 0;
  }

  /** Throws if the pages did not have all rows. */
  finish(): void {
    if (this.#read < this.#total) throw this.misordered();
  }

  /** The error for ids that the database sorts or compares in two ways. */
  misordered(): Error {
    const { dialect } = this.#source;
    const id = dialect.cast("id");
    if (this.#column === "id") {
      return new Error(`${this.file}: id is not sorted as it is compared; write ${id}`);
    }
    const problem = `user_id is not compared like id in ${this.#source.fileOf("users")}`;
    const advice = `write ${dialect.cast("user_id")} here and ${id} there`;
    return new Error(`${this.file}: ${problem}; ${advice}`);
  }

  async #readPage(condition: string, limit: number): Promise<Row[]> {
    const began = performance.now();
    // The ids are in the text, because with parameters, MariaDB reads whole tables.
    const rows = await this.query(`${condition} LIMIT ${limit}`).catch((error) => {
      const isMisordered = this.#column === "user_id" && INCOMPARABLE.test(error.message);
      throw isMisordered ? this.misordered() : error;
    });

    const isSlow = performance.now() - began > SLOW_MS;
    if (isSlow && !this.#isSlow) {
      this.#isSlow = true;
      this.#hooks.onSlow?.(this.file);
    }
    return rows;
  }

  /**
   * Replaces the last row, which begins the next page, and those equal to the one before it by all
   * rows that are equal. A collation can equate ids that differ, such as a and A, so only the
   * database can tell.
   */
  async #withTies(rows: Row[]): Promise<Row[]> {
    const column = this.#column;
    const next = rows.at(-1)?.[column];
    const page = rows.slice(0, -1);
    const last = this.#literalOf(page.at(-1)?.[column]);
    if (typeof next !== "string" && this.#literalOf(next) !== last) return page;

    const ties = await this.query(`WHERE q.${column} = ${last}`);
    const tied = new Set(ties.map((row) => this.#literalOf(row[column])));
    const untied = page.findLastIndex((row) => !tied.has(this.#literalOf(row[column]))) + 1;
    return [...page.slice(0, untied), ...ties];
  }

  /**
   * Writes an id, as the database returned it, into the text of a query. The database compares this
   * literal with a column as it compares the column's own values: by its type and its collation.
   */
  #literalOf(id: unknown): string {
    const { dialect } = this.#source;
    if (isNumber(id)) return String(id);
    if (id instanceof Uint8Array) return dialect.formatBytes(Buffer.from(id).toString("hex"));
    return dialect.formatText(String(id));
  }
}

/** The tables that an operator provides. */
export type Tables = ReadonlyMap<TableName, Table>;

/** The errors of PostgreSQL and MySQL for types and collations that they do not compare. */
const INCOMPARABLE = /operator does not exist|illegal mix of collations/i;

const isNumber = (id: unknown) => typeof id === "number" || typeof id === "bigint";
