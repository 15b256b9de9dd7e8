/**
 * Codes and messages of errors, reduced to the part that an operator can use. Never uses
 * `instanceof Error`: under Jest, Node's own errors belong to another realm.
 */

/** SQLite's primary result codes for errors of the system. Extended codes have more bits. */
const sqliteCodes: Record<number, string> = {
  3: "SQLITE_PERM",
  5: "SQLITE_BUSY",
  7: "SQLITE_NOMEM",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
};

/** The error's code, such as ENOENT or SQLITE_FULL; empty if it has none. */
export function codeOf(error: unknown): string {
  if (!isObject(error)) return "";
  // Bun's node:sqlite has only the number, better-sqlite3 has the code.
  if ("errcode" in error) return sqliteCodes[Number(error.errcode) & 0xff] ?? "SQLITE_ERROR";
  if ("code" in error) return String(error.code);
  return "cause" in error ? codeOf(error.cause) : "";
}

/** The message without the code and the path that system errors add to it. */
export function reasonOf(error: unknown): string {
  // Errors of Node's fetch have the reason only in the cause.
  if (isObject(error) && "cause" in error && error.cause) return reasonOf(error.cause);
  const message = isObject(error) && "message" in error ? String(error.message) : String(error);
  return message.replace(/^E[A-Z]+: /, "").replace(/, \w+( '.*')?( -> '.*')?$/s, "");
}

/** Whether an error comes from the file system, directly or through SQLite. */
export function isFileSystemError(error: unknown): boolean {
  return /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY|PERM)|E[A-Z]+$)/.test(codeOf(error));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
