/**
 * What an error says, cut to what an operator can use. Never asks whether it is an `Error`: under Jest,
 * Node's own are those of another realm.
 */

/** The error's code, such as ENOENT or SQLITE_FULL; empty when it has none. */
export function codeOf(error: unknown): string {
  return isObject(error) && "code" in error ? String(error.code) : "";
}

/** The message without the code and the path that the system's errors put around it. */
export function reasonOf(error: unknown): string {
  const message = isObject(error) && "message" in error ? String(error.message) : String(error);
  return message.replace(/^E[A-Z]+: /, "").replace(/, \w+( '.*')?( -> '.*')?$/s, "");
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
