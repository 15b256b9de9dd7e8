/** What an error says, cut to what an operator can use. */

/** The error's code, such as ENOENT or SQLITE_FULL; empty when it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** The message without the code and the path that the system's errors put around it. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^E[A-Z]+: /, "").replace(/, \w+( '.*')?( -> '.*')?$/s, "");
}
