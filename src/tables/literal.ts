/**
 * Writes ids into the text of queries. A database compares these literals with a column as it
 * compares the column's own values: by its type and its collation.
 */

export type Dialect = "sqlite" | "postgres" | "mysql";

/** `cell` is an id as the database returned it. */
export function formatLiteral(dialect: Dialect, cell: unknown): string {
  if (typeof cell === "number" || typeof cell === "bigint") return String(cell);
  const isText = !(cell instanceof Uint8Array);
  const bytes = Buffer.from(isText ? String(cell) : cell);
  const hex = bytes.toString("hex");
  if (dialect === "postgres") {
    // A literal without a type gets the column's, such as uuid.
    return isText ? `E'${String(cell).replaceAll(/['\\]/g, "\\$&")}'` : `E'\\\\x${hex}'`;
  }
  if (!isText) return `X'${hex}'`;
  // No quotes, so the text cannot end the literal, whatever the server's SQL mode. The plus removes
  // the affinity of the cast, which could convert the column.
  return dialect === "mysql" ? `_utf8mb4 X'${hex}'` : `+CAST(X'${hex}' AS TEXT)`;
}
