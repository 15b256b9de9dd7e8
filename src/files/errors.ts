/**
 * What an error says, cut to what an operator can use. Never asks whether it is an `Error`: under Jest,
 * Node's own are those of another realm.
 */

/** The results that say what the system refused SQLite; its extended ones have more bits. */
const sqliteCodes: Record<number, string> = {
  3: "SQLITE_PERM",
  5: "SQLITE_BUSY",
  7: "SQLITE_NOMEM",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
};

/** The error's code, such as ENOENT or SQLITE_FULL; empty when it has none. */
export function codeOf(error: unknown): string {
  if (!isObject(error)) return "";
  // Bun's SQLite has the number alone, better-sqlite3 the code.
  if ("errcode" in error) return sqliteCodes[Number(error.errcode) & 0xff] ?? "SQLITE_ERROR";
  if ("code" in error) return String(error.code);
  return "cause" in error ? codeOf(error.cause) : "";
}

/** The message without the code and the path that the system's errors put around it. */
export function reasonOf(error: unknown): string {
  // Node's fetch says what failed in the cause alone.
  if (isObject(error) && "cause" in error && error.cause) return reasonOf(error.cause);
  const message = isObject(error) && "message" in error ? String(error.message) : String(error);
  return message.replace(/^E[A-Z]+: /, "").replace(/, \w+( '.*')?( -> '.*')?$/s, "");
}

/** SQLite's errors for what the system refused it, and the system's own. */
export function isFileSystemError(error: unknown): boolean {
  return /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY|PERM)|E[A-Z]+$)/.test(codeOf(error));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
