/** How the databases that an operator may have differ in their SQL. */

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

/**
 * Writes an id, as the database returned it, into the text of a query. The database compares this
 * literal with a column as it compares the column's own values: by its type and its collation.
 */
export function literalOf(dialect: Dialect, id: unknown): string {
  if (typeof id === "number" || typeof id === "bigint") return String(id);
  if (id instanceof Uint8Array) return dialect.formatBytes(Buffer.from(id).toString("hex"));
  return dialect.formatText(String(id));
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
