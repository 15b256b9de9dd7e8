/** The error for a file that is no valid snapshot, or cannot be read as one. */
import { isDamagedDatabase, isFileSystemError, reasonOf } from "../../files/errors.ts";

export class SnapshotError extends Error {
  override name = "SnapshotError";
  /** Such as "is empty". Anyone can read it in /health, so it has no path and no other secret. */
  readonly reason: string;
  /** The same for the operator, who may read everything. The message has it after the file's name. */
  readonly detail: string;

  constructor(reason: string, detail = reason, file = "the snapshot") {
    super(`${file} ${detail}`);
    this.reason = reason;
    this.detail = detail;
  }
}

/** Does `work`, whose error then names the snapshot that is read. Rethrows an error that is a bug. */
export async function namingSnapshot<T>(source: string | Uint8Array, work: () => T | Promise<T>) {
  try {
    return await work();
  } catch (error) {
    const file = typeof source === "string" ? source : undefined;
    if (error instanceof SnapshotError) throw new SnapshotError(error.reason, error.detail, file);
    if (!isFileSystemError(error) && !isDamagedDatabase(error)) throw error;
    const problem = isFileSystemError(error) ? "cannot be read" : "is damaged";
    const detail = `${problem}: ${reasonOf(error)}`;
    throw new SnapshotError(problem + publicReasonOf(error), detail, file);
  }
}

/** A colon and why a file cannot be read or written. Empty for other errors, which may name a path. */
export function publicReasonOf(error: unknown): string {
  return isFileSystemError(error) ? `: ${reasonOf(error)}` : "";
}
