/**
 * The SQL around an operator's SELECT: reads the rows of a table in pages, by their id or by the id
 * of their user. The rows of CSV files are in a database, too.
 */
import { setImmediate } from "node:timers/promises";
import { type CellFormat, idColumnOf, type TableName } from "./columns.ts";
import { type Dialect, literalOf } from "./dialects.ts";
import type { Header } from "./header.ts";

/** Where the rows of tables are: CSV files, or a database. All queries see the same data. */
export interface TableSource extends CellFormat, AsyncDisposable {
  readonly dialect: Dialect;
  /** The name of a table's file, for messages. */
  fileOf(table: TableName): string;
  /** Opens the file of a table, which has its rows or selects them. */
  open(table: TableName, path: string): Promise<Selected>;
  /** Runs a query on a table, whose file an error names. */
  run(table: TableName, sql: string): Promise<Row[]>;
}

/** The columns of a table, and what follows FROM in a query that selects its rows. */
interface Selected extends Header {
  from: string;
}

/** The cells of a row by column. */
export interface Row {
  /** In a CSV file, the line on which the row begins. */
  readonly line?: number;
  readonly [column: string]: unknown;
}

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

export type Table = Awaited<ReturnType<typeof openTable>>;

/** The tables that an operator provides. */
export type Tables = ReadonlyMap<TableName, Table>;

/**
 * Opens the file of a table. Its rows must be counted before they are read, because the pages have
 * each of them once only if the database sorts ids as it compares them.
 */
export async function openTable(
  source: TableSource,
  name: TableName,
  path: string,
  { onRead, onSlow }: ReadHooks,
) {
  const { from, ...header } = await source.open(name, path);
  const { dialect } = source;
  const file = source.fileOf(name);
  const column = idColumnOf(name);
  const id = `q.${column}`;
  const isById = column === "id";
  const size = isById ? USERS_PER_PAGE : ROWS_PER_PAGE;
  /** How many rows have an id, and how many of them the pages have had so far. */
  let total = 0;
  let read = 0;
  let isSlow = false;

  async function query(rest: string, selected = "*"): Promise<Row[]> {
    // Handles signals, because SQLite's queries are synchronous.
    await setImmediate();
    return source.run(name, `SELECT ${selected} FROM ${from} AS q ${rest}`);
  }

  /** Returns the first rows that match, and one more if there are more. */
  async function readPage(condition: string): Promise<Row[]> {
    const began = performance.now();
    // The ids are in the text, because with parameters, MariaDB reads whole tables.
    const rows = await query(`${condition} ORDER BY ${id} LIMIT ${size + 1}`).catch((error) => {
      throw !isById && INCOMPARABLE.test(error.message) ? misordered(source, name) : error;
    });

    const wasSlow = isSlow;
    isSlow ||= performance.now() - began > SLOW_MS;
    if (isSlow && !wasSlow) onSlow?.(file);
    return rows;
  }

  /**
   * Yields the rows whose id is above `after` and at most `upTo`, in the database's order of their
   * ids. Rows whose ids are equal for the database are in the same page.
   */
  async function* pages(after?: unknown, upTo?: unknown): AsyncGenerator<Row[]> {
    const end = upTo === undefined ? "" : ` AND ${id} <= ${literalOf(dialect, upTo)}`;
    let last = after;
    let isFull: boolean;
    do {
      if (isById) onRead?.(file, read);
      const start = last === undefined ? "IS NOT NULL" : `> ${literalOf(dialect, last)}`;
      const rows = await readPage(`WHERE ${id} ${start}${end}`);
      isFull = rows.length > size;
      const page = isFull ? await withTies(rows, column, dialect, query) : rows;

      read += page.length;
      if (read > total) throw misordered(source, name);
      if (page.length > 0) yield page;
      last = page.at(-1)?.[column];
    } while (isFull);

    if (isById) onRead?.(file, read);
  }

  return {
    source,
    name,
    file,
    header,
    query,
    pages,
    async count(): Promise<void> {
      const [counted] = await query("", `COUNT(${id}) AS total`);
      total = Number(counted?.total);
    },
    /** Lists the rows without an id, which the pages leave out. */
    listWithoutId: () => query(`WHERE ${id} IS NULL`),
    /**
     * Whether the table has one of these ids. They are compared as text, which all databases do by
     * its bytes, whatever the types of the columns are.
     */
    async hasAny(ids: readonly (number | string)[]): Promise<boolean> {
      const texts = ids.map((id) => dialect.formatText(String(id)));
      const rows = await query(`WHERE ${dialect.cast("q.id")} IN (${texts}) LIMIT 1`, "q.id");
      return rows.length > 0;
    },
    /** Throws if the pages did not have all rows. */
    finish(): void {
      if (read < total) throw misordered(source, name);
    },
    misordered: () => misordered(source, name),
  };
}

/**
 * Replaces the last row, which begins the next page, and those equal to the one before it by all rows
 * that are equal. A collation can equate ids that differ, such as a and A, so only the database can
 * tell.
 */
async function withTies(
  rows: readonly Row[],
  column: string,
  dialect: Dialect,
  query: (rest: string) => Promise<Row[]>,
): Promise<Row[]> {
  const literal = (row: Row | undefined) => literalOf(dialect, row?.[column]);
  const next = rows.at(-1);
  const page = rows.slice(0, -1);
  const last = literal(page.at(-1));
  if (typeof next?.[column] !== "string" && literal(next) !== last) return page;

  const ties = await query(`WHERE q.${column} = ${last}`);
  const tied = new Set(ties.map(literal));
  const untied = page.findLastIndex((row) => !tied.has(literal(row))) + 1;
  return [...page.slice(0, untied), ...ties];
}

/** The errors of PostgreSQL and MySQL for types and collations that they do not compare. */
const INCOMPARABLE = /operator does not exist|illegal mix of collations/i;

/** The error for ids that the database sorts or compares in two ways. */
function misordered({ dialect, fileOf }: TableSource, name: TableName): Error {
  const id = dialect.cast("id");
  const file = fileOf(name);
  if (idColumnOf(name) === "id") {
    return new Error(`${file}: id is not sorted as it is compared; write ${id}`);
  }
  const problem = `user_id is not compared like id in ${fileOf("users")}`;
  const advice = `write ${dialect.cast("user_id")} here and ${id} there`;
  return new Error(`${file}: ${problem}; ${advice}`);
}
