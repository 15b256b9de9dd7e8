/**
 * Holds the snapshot that is being served. Opens the file again after it has been replaced, but
 * keeps the old snapshot if the new one is bad. The caller decides when to check the file.
 */
import { fileOf, findIdentity } from "../../files/read.ts";
import { SnapshotError } from "../format/file.ts";
import type { Meta } from "../format/meta.ts";
import { openSnapshot, type Snapshot } from "./open.ts";

/** The result of a check that found a change. */
export type Replacement = { meta: Meta } | { refused: SnapshotError };

/** After a transient error, every fifth check tries to open the file again. */
const CHECKS_UNTIL_RETRY = 5;

/** Opens a snapshot with {@link openSnapshot}. */
export async function openReloadableSnapshot(source: string | Uint8Array, copyFolder?: string) {
  const findSource = () => (typeof source === "string" ? findIdentity(source) : "");
  // Found before the file is opened, so that a replacement in between is noticed.
  let identity = findSource();
  let snapshot = await openSnapshot(source, copyFolder);
  let refused: SnapshotError | undefined;
  let checks = 0;
  let isClosed = false;
  let lastTask: Promise<unknown> = Promise.resolve();

  /** Runs a task after all earlier tasks have finished. */
  function enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = lastTask.then(task);
    lastTask = result.catch(() => {});
    return result;
  }

  async function check(isForced: boolean): Promise<Replacement | undefined> {
    if (isClosed) return undefined;
    const before = identity;
    identity = findSource();
    const isRetry = refused?.isTransient && ++checks % CHECKS_UNTIL_RETRY === 0;
    if (identity === before && !isRetry && !(refused && isForced)) return undefined;
    try {
      const meta = swap(await openSnapshot(source, copyFolder));
      return isClosed ? undefined : { meta };
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      const isWritten = identity !== before && fileOf(identity) === fileOf(before);
      const isSame = identity === before && error.message === refused?.message;
      const isKnown = refused && (isWritten || isSame);
      refused = error;
      return isKnown ? undefined : { refused };
    }
  }

  function swap(next: Snapshot): Meta {
    if (isClosed) {
      next.close();
    } else {
      // Reads are synchronous, so no read of the old snapshot can be in progress.
      snapshot.close();
      snapshot = next;
      refused = undefined;
    }
    return next.meta;
  }

  return {
    /** The snapshot to read from. Do not use it after the next await: it may be closed by then. */
    current: () => snapshot,
    /** Why the file at the path is not being served. Undefined if the file is being served. */
    refused: () => refused,
    /**
     * Checks the file and resolves to the result, or to undefined if nothing has changed. A bad
     * file is opened again when it changes, after a transient error on a later check, or if
     * `isForced` is set. While a file is being written, only its first error is a result.
     */
    refresh: (isForced = false) => enqueue(() => check(isForced)),
    /** Replaces a snapshot in memory with the result of passing its bytes to `transform`. */
    change: (transform: (bytes: Uint8Array) => Promise<Uint8Array>): Promise<Meta> =>
      enqueue(async () => {
        if (typeof source === "string") {
          throw new TypeError(
            "apply needs a snapshot in memory; for a file, call applyChanges and then refresh",
          );
        }
        const bytes = await transform(source);
        const meta = swap(await openSnapshot(bytes));
        source = bytes;
        return meta;
      }),
    /** Closes the snapshot immediately. Tasks that are still running have no further effect. */
    close(): void {
      if (!isClosed) snapshot.close();
      isClosed = true;
    },
  };
}
