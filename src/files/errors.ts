/**
 * Extracts codes and messages from errors, and names the file of an error. Under Jest, Node's errors fail
 * `instanceof Error`.
 */

const sqliteCodes: Record<number, string> = {
  3: "SQLITE_PERM",
  5: "SQLITE_BUSY",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  26: "SQLITE_NOTADB",
};

const networkReasons: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ConnectionRefused: "connection refused",
  ECONNRESET: "the connection was closed",
  EAI_AGAIN: "cannot resolve host name",
  ENOTFOUND: "cannot resolve host name",
  EPROTO: "TLS handshake failed",
};

const fieldsOf = (error: unknown): Partial<Record<string, unknown>> => Object(error);

/** Such as ENOENT or SQLITE_FULL. Empty if the error has no code. */
export function codeOf(error: unknown): string {
  const { errcode, code, cause } = fieldsOf(error);
  // Errors from Bun's node:sqlite have only a number, whose low 8 bits are the primary code.
  if (errcode !== undefined) return sqliteCodes[Number(errcode) & 0xff] ?? `SQLITE_${errcode}`;
  if (code !== undefined) return String(code);
  return cause ? codeOf(cause) : "";
}

/**
 * The error's message, without the code and the path that system errors include. Without `withFile`,
 * which must be off for whatever anyone can read, also without the file that {@link naming} has added.
 */
export function reasonOf(error: unknown, { withFile = true } = {}): string {
  const { cause, message = error } = fieldsOf(error);
  if (withFile && error instanceof FileError) return error.message;
  // Errors from Node's fetch give the reason only in their `cause`.
  if (cause) return reasonOf(cause, { withFile });
  if (!isOfSystem(error)) return String(message);

  // Such as "ENOENT: no such file or directory, open 'x'".
  return String(message)
    .replace(/^E[A-Z]+: /, "")
    .replace(/, \w+( '.*')?( -> '.*')?$/s, "");
}

/** The names of errors that only a bug causes. Those that this program throws have other names. */
const bugs = ["TypeError", "RangeError", "ReferenceError", "SyntaxError"];

/** Returns what an operator needs of an error: its message or, for a bug, also the stack. */
export function describeError(error: unknown): string {
  const { name, stack, message = error } = fieldsOf(error);
  return bugs.includes(String(name)) ? `bug: ${stack}` : String(message);
}

/** How a message names a database that SQLite deletes when it is closed. */
export const TEMPORARY_DATABASE = "the temporary database (TMPDIR sets its folder)";

/** Says which file could not be read or written. Its cause is the error of the system. */
class FileError extends Error {}

/**
 * Does `work`. If the file system or SQLite fails meanwhile, the error names the file, unless one
 * inside `work` has named another file already.
 */
export function naming<T>(file: string, verb: "read" | "write", work: () => T): T {
  const rethrow = (error: unknown): never => {
    throw toFileError(file, verb, error);
  };
  try {
    const result = work();
    return result instanceof Promise ? (result.catch(rethrow) as T) : result;
  } catch (error) {
    return rethrow(error);
  }
}

/** Names the file of an error that has been caught, as {@link naming} does. */
export function toFileError(file: string, verb: "read" | "write", error: unknown): unknown {
  // SQLite's other errors, such as a damaged page, are of this file, too, unless they have a name already.
  const isOfFile = isFileSystemError(error) || codeOf(error).startsWith("SQLITE_");
  if (!isOfFile || error instanceof FileError) return error;
  return new FileError(`cannot ${verb} ${file}: ${reasonOf(error)}`, { cause: error });
}

/** An error that is like the system's own. */
export function systemError(reason: string): Error {
  return Object.assign(new Error(reason), { errno: -1 });
}

/** Why a `fetch` failed. Leaves out the error's own message, because Bun's contains the URL. */
export function networkReasonOf(error: unknown, timeoutMs: number): string {
  if (fieldsOf(error).name === "TimeoutError") return `timed out after ${timeoutMs / 1000} s`;
  const code = codeOf(error);
  return networkReasons[code] ?? (code || "no response");
}

/** SQLite's codes have suffixes, such as SQLITE_IOERR_WRITE. */
const SQLITE_FILE_ERROR = /^SQLITE_(?:FULL|IOERR|CANTOPEN|READONLY|PERM)/;

/** Whether an error comes from the file system, directly or through SQLite. */
export function isFileSystemError(error: unknown): boolean {
  return isOfSystem(error) || SQLITE_FILE_ERROR.test(codeOf(error));
}

/** Only errors of the system have a negative number. Those of a network are handled where they occur. */
function isOfSystem(error: unknown): boolean {
  const { errno, cause } = fieldsOf(error);
  return Number(errno) < 0 || (cause !== undefined && isOfSystem(cause));
}

/** Whether another connection has locked the SQLite file. */
export function isLocked(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_BUSY");
}

/** Whether a file is a damaged SQLite database, or none at all. */
export function isDamagedDatabase(error: unknown): boolean {
  return /^SQLITE_(?:NOTADB|CORRUPT)/.test(codeOf(error));
}
