/** Extracts codes and messages from errors. Under Jest, Node's errors fail `instanceof Error`. */

/** SQLite's primary result codes for system errors, which are the low 8 bits of extended codes. */
const sqliteCodes: Record<number, string> = {
  3: "SQLITE_PERM",
  5: "SQLITE_BUSY",
  7: "SQLITE_NOMEM",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
};

/** Such as ENOENT or SQLITE_FULL. Empty if the error has no code. */
export function codeOf(error: unknown): string {
  if (!isObject(error)) return "";
  // Errors from Bun's node:sqlite have only a number. Errors from better-sqlite3 have a `code`.
  if ("errcode" in error) return sqliteCodes[Number(error.errcode) & 0xff] ?? "SQLITE_ERROR";
  if ("code" in error) return String(error.code);
  return "cause" in error ? codeOf(error.cause) : "";
}

/** The error's message, without the code and the path that system errors include. */
export function reasonOf(error: unknown): string {
  // Errors from Node's fetch give the reason only in their `cause`.
  if (isObject(error) && "cause" in error && error.cause) return reasonOf(error.cause);
  const message = isObject(error) && "message" in error ? String(error.message) : String(error);
  return message.replace(/^E[A-Z]+: /, "").replace(/, \w+( '.*')?( -> '.*')?$/s, "");
}

const networkReasons: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ConnectionRefused: "connection refused",
  ECONNRESET: "the connection was closed",
  EAI_AGAIN: "cannot resolve host name",
  ENOTFOUND: "cannot resolve host name",
  EPROTO: "TLS handshake failed",
};

/** Why a `fetch` failed. Leaves out the error's own message, because Bun's contains the URL. */
export function networkReasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof Error && error.name === "TimeoutError") {
    return `timed out after ${timeoutMs / 1000} s`;
  }
  const code = codeOf(error);
  return networkReasons[code] ?? (code || "no response");
}

/** Whether an error comes from the file system, directly or through SQLite. */
export function isFileSystemError(error: unknown): boolean {
  return /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY|PERM)|E[A-Z]+$)/.test(codeOf(error));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
