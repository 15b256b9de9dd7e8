/** What differs in the SQL of the databases that operators have. */

/** How SQLite, PostgreSQL, and MySQL or MariaDB differ in their SQL. */
export interface Dialect {
  /** How its URLs begin. */
  readonly scheme: RegExp;
  /** Statements that begin a read-only transaction in UTC, in which all queries see one moment. */
  readonly begin: readonly string[];
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
