/** The interface of CSV files and databases, whose rows SQL selects, and the dialects of SQL. */
import type { CellFormat } from "./cells.ts";
import type { Header, TableName } from "./columns.ts";

export interface TableSource extends CellFormat, AsyncDisposable {
  readonly dialect: Dialect;
  /** Opens the file of a table, which has its rows or selects them. */
  open(table: TableName, path: string): Promise<Selected>;
  /** Runs a query. All queries see the same data. */
  run(sql: string): Promise<Row[]>;
  /** The name of a table's file, for messages. */
  fileOf(table: TableName): string;
}

/** The columns of a table, and what follows FROM in a query that selects its rows. */
export interface Selected {
  header: Header;
  from: string;
  /** How the file was read, where it could not show that at once. */
  notes: readonly string[];
}

/** The cells of a row by column. */
export interface Row {
  /** In a CSV file, the line on which the row begins. */
  readonly line?: number;
  readonly [column: string]: unknown;
}

/** Adds the name of a table's file to the error of a query. */
export async function namingFile<T>(file: string, reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : error}`);
  }
}

/** The differences between SQLite, PostgreSQL, and MySQL or MariaDB. */
export interface Dialect {
  /** How its URLs begin. */
  readonly scheme: RegExp;
  /** Whether its URLs must name the database, because its servers have no default. */
  readonly needsName: boolean;
  /** Statements that begin a read-only transaction in UTC, in which all queries see one moment. */
  readonly begin: readonly string[];
  /** Where its servers listen unless the URL says otherwise; undefined without a server. */
  readonly port?: number;
  /** Whether it has columns of bits, which it returns as bytes. */
  readonly hasBits: boolean;
  /** Whether the server would keep the queries of all pages in memory if they were prepared. */
  readonly keepsPrepared: boolean;
  /** The quotes around the name of a column. */
  readonly quote: '"' | "`";
  /** Makes a column text that is compared by its bytes. */
  cast(column: string): string;
  /** Writes text so that it is compared with a column as the column's own values are. */
  formatText(text: string): string;
  /** Writes bytes, which are given in hexadecimal digits. */
  formatBytes(hex: string): string;
  /**
   * The parts of a query: what can be left out after its end (comments, semicolons and white space,
   * in group 1), and what cannot. In quotes, a semicolon or a comment means nothing.
   */
  readonly parts: RegExp;
}

const toHex = (text: string) => Buffer.from(text).toString("hex");

export const dialects = {
  sqlite: {
    scheme: /^sqlite:/i,
    needsName: false,
    // The connection is read-only, and SQLite has no time zones.
    begin: ["BEGIN"],
    hasBits: false,
    keepsPrepared: false,
    quote: '"',
    cast: (column) => `CAST(${column} AS TEXT) COLLATE BINARY`,
    // The plus removes the affinity of the cast, which could convert the column.
    formatText: (text) => `+CAST(X'${toHex(text)}' AS TEXT)`,
    formatBytes: (hex) => `X'${hex}'`,
    parts: /(--[^\n]*|\/\*.*?(?:\*\/|$)|[\s;])|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|./gs,
  },
  postgres: {
    scheme: /^postgres(?:ql)?:/i,
    needsName: false,
    begin: ["SET TIME ZONE 'UTC'", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"],
    port: 5432,
    hasBits: false,
    keepsPrepared: true,
    quote: '"',
    cast: (column) => `CAST(${column} AS text) COLLATE "C"`,
    // A literal without a type gets the column's, such as uuid.
    formatText: (text) => `E'${text.replaceAll(/['\\]/g, "\\$&")}'`,
    formatBytes: (hex) => `E'\\\\x${hex}'`,
    parts:
      /(--[^\n]*|\/\*.*?\*\/|[\s;])|\bE'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|\$(\w*)\$.*?\$\2\$|./gis,
  },
  mysql: {
    scheme: /^(?:mysql|mariadb):/i,
    needsName: true,
    begin: [
      "SET SESSION time_zone = '+00:00'",
      "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
      "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
    ],
    port: 3306,
    hasBits: true,
    keepsPrepared: false,
    quote: "`",
    cast: (column) => `CAST(${column} AS CHAR) COLLATE utf8mb4_bin`,
    // Without quotes, the text cannot end the literal, whatever the server's SQL mode.
    formatText: (text) => `_utf8mb4 X'${toHex(text)}'`,
    formatBytes: (hex) => `X'${hex}'`,
    parts:
      /(--(?=\s|$)[^\n]*|#[^\n]*|\/\*.*?\*\/|[\s;])|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|./gs,
  },
} satisfies Record<string, Dialect>;

export const DATABASE_URLS = "a postgres://, mysql://, mariadb:// or sqlite: URL";

/** Returns undefined unless a database can be at the URL. */
export function findDialect(url: string): Dialect | undefined {
  return Object.values<Dialect>(dialects).find(({ scheme }) => scheme.test(url));
}
