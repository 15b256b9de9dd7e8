/** Holds the snapshot that is being served, and keeps it if a replacement is bad. */
import { fileOf, findIdentity } from "../../files/read.ts";
import { SnapshotError } from "../format/file.ts";
import type { Meta } from "../format/meta.ts";
import { openSnapshot, type Snapshot } from "./open.ts";

/** The result of a check that found a change. */
export type Replacement = { meta: Meta } | { refused: SnapshotError };

export async function openReloadableSnapshot(source: string | Uint8Array, copyFolder?: string) {
  const findSource = () => (typeof source === "string" ? findIdentity(source) : "");
  // Found before the file is opened, so that a replacement in between is noticed.
  let identity = findSource();
  let snapshot = await openSnapshot(source, copyFolder);
  let refused: SnapshotError | undefined;
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
    if (identity === before && !(refused && isForced)) return undefined;
    try {
      const meta = swap(await openSnapshot(source, copyFolder));
      return isClosed ? undefined : { meta };
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      const isKnown = refused && fileOf(identity) === fileOf(before);
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
    /** The snapshot to read from, until the next await: it may be closed after that. */
    current: () => snapshot,
    /** Why the file at the path is not being served. */
    refused: () => refused,
    /**
     * Opens the file again if it has changed, or if it was refused and `isForced` is set. Resolves
     * to undefined unless there is a new snapshot or the first error of a file, so a file that is
     * being written is reported once.
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
    /** Closes the snapshot immediately. Running tasks have no further effect. */
    close(): void {
      if (!isClosed) snapshot.close();
      isClosed = true;
    },
  };
}
