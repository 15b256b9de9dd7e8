/**
 * The SQL around an operator's SELECT, in the dialects of the databases that operators have: reads the
 * rows of a table in pages, by their id or by the id of their user. The rows of CSV files are in a
 * database, too.
 */
import { setImmediate } from "node:timers/promises";
import { type CellFormat, idColumnOf, type TableName } from "./columns.ts";
import type { Header } from "./header.ts";

/** Where the rows of tables are: CSV files, or a database. All queries see the same data. */
export interface TableSource extends AsyncDisposable {
  readonly dialect: Dialect;
  /** The name of a table's file, for messages. */
  fileOf(table: TableName): string;
  /** Opens the file of a table, which has its rows or selects them. */
  open(table: TableName, path: string): Promise<OpenedFile>;
}

/** The columns and cells of a file, and how its rows are selected. */
export interface OpenedFile extends Header {
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
 * Opens a table whose file its source has opened, and counts its rows: the pages have each of them once
 * only if the database sorts ids as it compares them.
 */
export async function openTable(
  source: TableSource,
  name: TableName,
  { from, run, format, ...header }: OpenedFile,
  { onRead, onSlow }: ReadHooks,
) {
  const { dialect } = source;
  const file = source.fileOf(name);
  const column = idColumnOf(name);
  const id = `q.${column}`;
  const isById = column === "id";
  const size = isById ? RECORDS_PER_PAGE : ROWS_PER_PAGE;
  /** How many rows the pages have had so far. */
  let read = 0;
  let isSlow = false;
  const misordered = () => explainOrder(source, name);

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
      throw !isById && INCOMPARABLE.test(error.message) ? misordered() : error;
    });

    const wasSlow = isSlow;
    isSlow ||= performance.now() - began > SLOW_MS;
    if (isSlow && !wasSlow) onSlow?.(file);
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

  return {
    dialect,
    name,
    file,
    header,
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

/** The error for ids that the database sorts or compares in two ways. */
function explainOrder({ dialect, fileOf }: TableSource, name: TableName): Error {
  const id = dialect.cast("id");
  const file = fileOf(name);
  if (idColumnOf(name) === "id") {
    return new Error(`${file}: id is not sorted as it is compared; write ${id}`);
  }
  const problem = `user_id is not compared like id in ${fileOf("users")}`;
  const advice = `write ${dialect.cast("user_id")} here and ${id} there`;
  return new Error(`${file}: ${problem}; ${advice}`);
}

/** The errors of PostgreSQL and MySQL for types and collations that they do not compare. */
const INCOMPARABLE = /operator does not exist|illegal mix of collations/i;

/**
 * Writes an id, as the database returned it, into the text of a query. The database compares this
 * literal with a column as it compares the column's own values: by its type and its collation.
 */
function literalOf(dialect: Dialect, id: unknown): string {
  if (typeof id === "number" || typeof id === "bigint") return String(id);
  if (id instanceof Uint8Array) return dialect.formatBytes(Buffer.from(id).toString("hex"));
  return dialect.formatText(String(id));
}

/** How SQLite, PostgreSQL, and MySQL or MariaDB differ in their SQL. */
export interface Dialect {
  /** How its URLs begin. */
  readonly scheme: RegExp;
  /** Statements that begin a read-only transaction in UTC, in which all queries see one moment. */
  readonly begin: readonly string[];
  /** Where its servers listen unless the URL says otherwise; undefined without a server. */
  readonly port?: number;
  /** Whether it has columns of bits, which it returns as bytes. */
  readonly hasBits: boolean;
  /** The quotes around the name of a column. */
  readonly quote: '"' | "`";
  /** Makes a column text that is compared by its bytes. */
  cast(column: string): string;
  /** Writes text so that it is compared with a column as the column's own values are. */
  formatText(text: string): string;
  /** Writes bytes, which are given in hexadecimal digits. */
  formatBytes(hex: string): string;
  /** A comment in a query. */
  readonly comment: RegExp;
  /** A text or a name in quotes, in which a semicolon or a comment means nothing. */
  readonly quoted: RegExp;
}

const toHex = (text: string) => Buffer.from(text).toString("hex");

export const dialects = {
  sqlite: {
    scheme: /^sqlite:/i,
    // The connection is read-only, and SQLite has no time zones.
    begin: ["BEGIN"],
    hasBits: false,
    quote: '"',
    cast: (column) => `CAST(${column} AS TEXT) COLLATE BINARY`,
    // The plus removes the affinity of the cast, which could convert the column.
    formatText: (text) => `+CAST(X'${toHex(text)}' AS TEXT)`,
    formatBytes: (hex) => `X'${hex}'`,
    comment: /--[^\n]*|\/\*.*?(?:\*\/|$)/,
    quoted: /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]/,
  },
  postgres: {
    scheme: /^postgres(?:ql)?:/i,
    begin: ["SET TIME ZONE 'UTC'", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"],
    port: 5432,
    hasBits: false,
    quote: '"',
    cast: (column) => `CAST(${column} AS text) COLLATE "C"`,
    // A literal without a type gets the column's, such as uuid.
    formatText: (text) => `E'${text.replaceAll(/['\\]/g, "\\$&")}'`,
    formatBytes: (hex) => `E'\\\\x${hex}'`,
    // A comment can have another in it.
    comment: /--[^\n]*|\/\*(?:\/\*.*?\*\/|(?!\*\/).)*\*\//,
    quoted: /\bE'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|\$(?<tag>\w*)\$.*?\$\k<tag>\$/,
  },
  mysql: {
    scheme: /^(?:mysql|mariadb):/i,
    begin: [
      "SET SESSION time_zone = '+00:00'",
      "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
      "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
    ],
    port: 3306,
    hasBits: true,
    quote: "`",
    cast: (column) => `CAST(${column} AS CHAR) COLLATE utf8mb4_bin`,
    // Without quotes, the text cannot end the literal, whatever the server's SQL mode.
    formatText: (text) => `_utf8mb4 X'${toHex(text)}'`,
    formatBytes: (hex) => `X'${hex}'`,
    // The servers run what stands in /*! and /*M!.
    comment: /--(?=\s|$)[^\n]*|#[^\n]*|\/\*(?!M?!).*?\*\//,
    quoted: /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`/,
  },
} satisfies Record<string, Dialect>;
