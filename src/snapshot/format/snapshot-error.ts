/** The error for a file that is no valid snapshot, or cannot be read as one. */
import { codeOf, reasonOf } from "../../files/errors.ts";

export class SnapshotError extends Error {
  override name = "SnapshotError";
  /** The message without the name of the file, such as "is empty". */
  readonly reason: string;

  constructor(reason: string, file = "the snapshot") {
    super(`${file} ${reason}`);
    this.reason = reason;
  }
}

/** Calls `open`. Converts any error to a {@link SnapshotError} that names the file. */
export async function namingErrors<T>(source: string | Uint8Array, open: () => T | Promise<T>) {
  try {
    return await open();
  } catch (error) {
    throw snapshotError(source, error);
  }
}

export function snapshotError(source: string | Uint8Array, error: unknown): SnapshotError {
  const file = typeof source === "string" ? source : undefined;
  if (error instanceof SnapshotError) return new SnapshotError(error.reason, file);
  const isDamaged = /^SQLITE(?!_(IOERR|NOMEM|CANTOPEN|BUSY))/.test(codeOf(error));
  const problem = isDamaged ? "is damaged" : "cannot be read";
  return new SnapshotError(`${problem}: ${reasonOf(error)}`, file);
}
