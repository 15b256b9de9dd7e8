/**
 * Reads the rows of a table in pages, by their id or by the id of their user, with SQL around an
 * operator's SELECT. The rows of CSV files are in a database, too. Makes an item of each row.
 */
import { setImmediate } from "node:timers/promises";
import type { Item, Problem, ProblemItem, RawRecord } from "../domain/records.ts";
import { toKey } from "../domain/source-ids.ts";
import { mustBeId } from "../domain/validation-errors.ts";
import { type CellFormat, type Cells, idColumnOf, type TableName, toCells } from "./columns.ts";
import type { Dialect } from "./dialects.ts";
import type { Header } from "./header.ts";

/** Where the rows of tables are: CSV files, or a database. All queries see the same data. */
export interface TableSource extends AsyncDisposable {
  /** Opens the file of a table, which has its rows or selects them. */
  open(table: TableName, path: string): Promise<OpenedFile>;
}

/** The columns and cells of a file, and how its rows are selected. */
export interface OpenedFile extends Header {
  /** Its name, for messages. */
  file: string;
  format: CellFormat;
  /** The operand of FROM in a query. */
  from: string;
  /** Runs a query. An error names the file. */
  run(sql: string): Promise<Row[]>;
}

/** The cells of a row by column. */
export interface Row {
  /** In a CSV file, the line on which the row begins. */
  readonly line?: number;
  readonly [column: string]: unknown;
}

/** The error for ids that a database does not compare, because of their types or collations. */
export class IncomparableError extends Error {}

export interface ReadHooks {
  /** Called repeatedly with the number of rows of a file that have been read. */
  onRead?: ((file: string, rows: number) => void) | undefined;
  /** Called once for each query of which a page takes longer than half a second. */
  onSlow?: ((file: string) => void) | undefined;
}

// The rows of a page are in memory together.
/** Of users, companies, roles and achievements. */
const RECORDS_PER_PAGE = 1000;
/** Of the tables that give users roles and achievements. */
const ROWS_PER_PAGE = 20_000;
/** A page of a query that uses an index takes a few milliseconds. */
const SLOW_MS = 500;

export type Table = Awaited<ReturnType<typeof openTable>>;

/** The tables that an operator provides. */
export type Tables = ReadonlyMap<TableName, Table>;

/**
 * Counts the rows of a table, to read them in pages: the pages have each of them once only if the database
 * sorts ids as it compares them.
 */
export async function openTable(
  name: TableName,
  { file, columns, format, from, run }: OpenedFile,
  { onRead, onSlow }: ReadHooks,
) {
  const { dialect } = format;
  const column = idColumnOf(name);
  const id = `q.${column}`;
  const isById = column === "id";
  const size = isById ? RECORDS_PER_PAGE : ROWS_PER_PAGE;
  /** How many rows the pages have had so far. */
  let read = 0;
  let isSlow = false;

  async function query(rest: string, selected = "*"): Promise<Row[]> {
    // Handles signals, because SQLite's queries are synchronous.
    await setImmediate();
    return run(`SELECT ${selected} FROM ${from} AS q ${rest}`);
  }

  const [counted] = await query("", `COUNT(${id}) AS with_id`);
  const total = Number(counted?.with_id);

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
      const page = isFull ? await withTies(rows) : rows;

      read += page.length;
      if (read > total) throw misordered();
      if (page.length > 0) yield page;
      last = page.at(-1)?.[column];
    } while (isFull);

    if (isById) onRead?.(file, read);
  }

  /** Returns the first rows that match, and one more if there are more. */
  async function readPage(condition: string): Promise<Row[]> {
    const began = performance.now();
    // The ids are in the text, because with parameters, MariaDB reads whole tables.
    const rows = await query(`${condition} ORDER BY ${id} LIMIT ${size + 1}`).catch((error) => {
      throw !isById && error instanceof IncomparableError ? misordered() : error;
    });

    if (!isSlow && performance.now() - began > SLOW_MS) {
      isSlow = true;
      onSlow?.(file);
    }
    return rows;
  }

  /**
   * Replaces the last row, which begins the next page, and those equal to the one before it by all
   * rows that are equal. A collation can equate ids that differ, such as a and A, so only the database
   * can tell.
   */
  async function withTies(rows: readonly Row[]): Promise<Row[]> {
    const literal = (row: Row | undefined) => literalOf(dialect, row?.[column]);
    const next = rows.at(-1);
    const page = rows.slice(0, -1);
    const last = literal(page.at(-1));
    if (typeof next?.[column] !== "string" && literal(next) !== last) return page;

    const ties = await query(`WHERE ${id} = ${last}`);
    const tied = new Set(ties.map(literal));
    const untied = page.findLastIndex((row) => !tied.has(literal(row))) + 1;
    return [...page.slice(0, untied), ...ties];
  }

  /** The error for ids that a database, unlike that of CSV files, sorts or compares in two ways. */
  function misordered(): Error {
    const cast = dialect.cast("id");
    if (isById) return new Error(`${file}: id is not sorted as it is compared; write ${cast}`);
    const advice = `write ${dialect.cast("user_id")} here and ${cast} there`;
    return new Error(`${file}: user_id is not compared like id in users.sql; ${advice}`);
  }

  return {
    name,
    file,
    columns,
    format,
    query,
    pages,
    /** Lists the rows without an id, which the pages leave out. */
    listWithoutId: () => query(`WHERE ${id} IS NULL`),
    /**
     * Whether the table has one of these ids. They are compared as text, which all databases do by
     * its bytes, whatever the types of the columns are.
     */
    async hasAny(ids: readonly (number | string)[]): Promise<boolean> {
      const texts = ids.map((id) => dialect.formatText(String(id)));
      const rows = await query(
        `WHERE ${dialect.cast("q.id")} IN (${texts.join(", ")}) LIMIT 1`,
        "q.id",
      );
      return rows.length > 0;
    },
    /** Throws unless the pages had all rows. */
    checkComplete(): void {
      if (read < total) throw misordered();
    },
    misordered,
  };
}

/**
 * Writes an id, as the database returned it, into the text of a query. The database compares this
 * literal with a column as it compares the column's own values: by its type and its collation.
 */
function literalOf(dialect: Dialect, id: unknown): string {
  if (typeof id === "number" || typeof id === "bigint") return String(id);
  if (id instanceof Uint8Array) return dialect.formatBytes(Buffer.from(id).toString("hex"));
  return dialect.formatText(String(id));
}

/**
 * Makes an item of each row: the record that is made of its cells, which is validated later, like a line
 * of a dataset. A row without a valid id is no record.
 */
export function toItems(
  table: Table,
  rows: readonly Row[],
  toRecord: (cells: Cells) => RawRecord,
): Item[] {
  const { format } = table;
  return rows.map((row) => {
    const cells = toCells(row, format);
    if (!format.ids.isId(cells.id)) return toProblem(table, row, mustBeId("id", cells.id));
    return { record: toRecord(cells), line: row.line };
  });
}

/** Returns the item for a row that is no record. */
export function toProblem(table: Table, row: Row, problem: Problem): ProblemItem {
  const cell = row[idColumnOf(table.name)];
  const place = nameRow(table, row.line, toKey(cell) ?? cell ?? "NULL");
  return { problem, place, leavesOut: table.name === "users" ? "user" : "row" };
}

/** Names a row as `users.csv, line 12`, or `users.sql, id 42` if it has no line. */
export function nameRow({ name, file }: Table, line: number | undefined, id: unknown): string {
  return `${file}, ${line === undefined ? `${idColumnOf(name)} ${id}` : `line ${line}`}`;
}
