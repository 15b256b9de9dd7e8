/**
 * The SQL around an operator's SELECT: reads the rows of a table in pages, by their id or by the id
 * of their user.
 */
import { isUtf8 } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import { readFileBytes } from "../files/input.ts";
import type { CellOrigin } from "./cells.ts";
import { type Header, keyOf, readHeader, type TableName } from "./columns.ts";

/** The cells of a row by column. `line` is the line in a CSV file. */
export type Row = Record<string, unknown>;

/** A database, or a temporary one with the rows of CSV files. All queries see the same data. */
export interface Source extends AsyncDisposable, CellOrigin {
  readonly ending: "csv" | "sql";
  load?(table: TableName, path: string): Promise<Header>;
  run(sql: string): Promise<{ rows: Row[]; columns: string[] }>;
}

export interface Reporting {
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

/** The rows of an operator's query or CSV file. */
export class Table {
  readonly file: string;
  readonly header: Header;
  readonly #source: Source;
  /** What follows FROM. */
  readonly #from: string;
  /** The column that identifies a row, or the user of the row. */
  readonly #column: "id" | "user_id";
  readonly #reporting: Reporting;
  /** How many rows with an id are still to be read. */
  #unread = 0;
  #isSlow = false;

  private constructor(
    source: Source,
    name: TableName,
    { header, from }: Selected,
    reporting: Reporting,
  ) {
    this.file = `${name}.${source.ending}`;
    this.header = header;
    this.#source = source;
    this.#from = from;
    this.#column = keyOf(name);
    this.#reporting = reporting;
  }

  static async open(
    source: Source,
    name: TableName,
    path: string,
    reporting: Reporting,
  ): Promise<Table> {
    const loaded = await source.load?.(name, path);
    const selected = loaded ? { header: loaded, from: name } : await openSelect(source, name, path);
    return new Table(source, name, selected, reporting);
  }

  async query(rest: string, columns = "*"): Promise<Row[]> {
    // Handles signals, because SQLite's queries are synchronous.
    await setImmediate();
    const sql = `SELECT ${columns} FROM ${this.#from} AS q ${rest}`;
    return (await runNaming(this.#source, this.file, sql)).rows;
  }

  /** Counts the rows, and lists those without an id, which the pages leave out. */
  async listWithoutId(): Promise<Row[]> {
    const [counted] = await this.query("", `COUNT(q.${this.#column}) AS total`);
    this.#unread = Number(counted?.total);
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
    let count = 0;
    for (let isFull = true; isFull; ) {
      if (isById) this.#reporting.onRead?.(this.file, count);
      const rows = await this.#readPage(`WHERE ${start}${end} ORDER BY ${key}`, size + 1);
      isFull = rows.length > size;
      const page = isFull ? await this.#withTies(rows) : rows;
      count += page.length;
      this.#unread -= page.length;
      if (this.#unread < 0) throw this.misordered();
      if (page.length > 0) yield page;
      start = `${key} > ${this.#literalOf(page.at(-1)?.[this.#column])}`;
    }
    if (isById) this.#reporting.onRead?.(this.file, count);
  }

  /** Lists the rows with one of these ids, which the query may have with another type. */
  async listByIds(ids: readonly unknown[], example: unknown): Promise<Row[]> {
    const literals = ids.flatMap((id) => {
      const like = convertLike(id, example);
      return like === undefined ? [] : [this.#literalOf(like)];
    });
    return literals.length === 0 ? [] : this.query(`WHERE q.id IN (${literals})`);
  }

  /** Throws if the pages did not have all rows. */
  finish(): void {
    if (this.#unread > 0) throw this.misordered();
  }

  /** The error for ids that the database sorts or compares in two ways. */
  misordered(): Error {
    const { dialect, ending } = this.#source;
    const cast = (column: string) => casts[dialect].replace("?", column);
    if (this.#column === "id") {
      return new Error(`${this.file}: id is not sorted as it is compared; write ${cast("id")}`);
    }
    const problem = `user_id is not compared like id in users.${ending}`;
    return new Error(
      `${this.file}: ${problem}; write ${cast("user_id")} here and ${cast("id")} there`,
    );
  }

  async #readPage(condition: string, limit: number): Promise<Row[]> {
    const began = performance.now();
    // The ids are in the text, because with parameters, MariaDB reads whole tables.
    const rows = await this.query(`${condition} LIMIT ${limit}`).catch((error) => {
      const isMisordered = this.#column === "user_id" && INCOMPARABLE.test(error.message);
      throw isMisordered ? this.misordered() : error;
    });
    const isSlow = performance.now() - began > SLOW_MS;
    if (isSlow && !this.#isSlow && this.#source.ending === "sql") {
      this.#isSlow = true;
      this.#reporting.onSlow?.(this.file);
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

  #literalOf(id: unknown): string {
    return formatLiteral(this.#source.dialect, id);
  }
}

/** What PostgreSQL and MySQL say of types and collations that they do not compare. */
const INCOMPARABLE = /operator does not exist|illegal mix of collations/i;

/** Makes a column text that is compared by its bytes. */
const casts: Record<Source["dialect"], string> = {
  sqlite: "CAST(? AS TEXT) COLLATE BINARY",
  mysql: "CAST(? AS CHAR) COLLATE utf8mb4_bin",
  postgres: 'CAST(? AS text) COLLATE "C"',
};

/** Returns an id with the type of another one, or undefined if it cannot have that type. */
function convertLike(id: unknown, example: unknown): unknown {
  const text = String(id);
  if (typeof example === "string") return text;
  if (example instanceof Uint8Array) return Buffer.from(text, "hex");
  return /^-?\d{1,100}$/.test(text) ? BigInt(text) : undefined;
}

async function runNaming(source: Source, file: string, sql: string) {
  try {
    return await source.run(sql);
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : error}`);
  }
}

/** The header of a query, and what follows FROM, with the names of columns as they are known here. */
interface Selected {
  header: Header;
  from: string;
}

async function openSelect(source: Source, name: TableName, path: string): Promise<Selected> {
  const { dialect, ending } = source;
  const file = `${name}.${ending}`;
  const bytes = Buffer.concat(await Array.fromAsync(readFileBytes(path)));
  if (!isUtf8(bytes)) throw new Error(`${file} is not valid UTF-8`);
  const text = new TextDecoder().decode(bytes);
  const from = `(${trimQuery(text, dialect)})`;

  const { columns } = await runNaming(source, file, `SELECT * FROM ${from} AS q WHERE 1 = 0`);
  const header = readHeader(file, name, columns);
  if (columns.every((column, at) => header.places.get(column) === at)) return { header, from };
  const quote = dialect === "mysql" ? "`" : '"';
  const quoted = columns.map((column) => quote + column.replaceAll(quote, quote + quote) + quote);
  const known = Array.from(header.places, ([column, at]) => `${quoted[at]} AS ${column}`);
  return { header, from: `(SELECT ${known} FROM ${from} AS written)` };
}

/**
 * The parts of a query: what can be left out after its end (comments, semicolons and white space,
 * in group 1), and what cannot. In quotes, a semicolon or a comment means nothing.
 */
const parts: Record<Source["dialect"], RegExp> = {
  sqlite: /(--[^\n]*|\/\*.*?(?:\*\/|$)|[\s;])|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|./gs,
  mysql:
    /(--(?=\s|$)[^\n]*|#[^\n]*|\/\*.*?\*\/|[\s;])|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|./gs,
  postgres:
    /(--[^\n]*|\/\*.*?\*\/|[\s;])|\bE'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|\$(\w*)\$.*?\$\2\$|./gis,
};

/** Removes what follows the query, because a semicolon is an error in a subquery. */
function trimQuery(text: string, dialect: Source["dialect"]): string {
  let end = 0;
  for (const { 0: part, 1: omitted, index } of text.matchAll(parts[dialect])) {
    if (omitted === undefined) end = index + part.length;
  }
  return text.slice(0, end);
}

/**
 * Writes an id, as the database returned it, into the text of a query. The database compares this
 * literal with a column as it compares the column's own values: by its type and its collation.
 */
function formatLiteral(dialect: Source["dialect"], id: unknown): string {
  if (typeof id === "number" || typeof id === "bigint") return String(id);
  const isText = !(id instanceof Uint8Array);
  const hex = Buffer.from(isText ? String(id) : id).toString("hex");
  if (dialect === "postgres") {
    // A literal without a type gets the column's, such as uuid.
    return isText ? `E'${String(id).replaceAll(/['\\]/g, "\\$&")}'` : `E'\\\\x${hex}'`;
  }
  if (!isText) return `X'${hex}'`;
  // No quotes, so the text cannot end the literal, whatever the server's SQL mode. The plus removes
  // the affinity of the cast, which could convert the column.
  return dialect === "mysql" ? `_utf8mb4 X'${hex}'` : `+CAST(X'${hex}' AS TEXT)`;
}
