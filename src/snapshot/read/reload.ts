/** Holds the snapshot that is being served, and keeps it if a replacement of its file is bad. */
import { stat } from "node:fs/promises";
import { setImmediate as nextTick } from "node:timers/promises";
import { codeOf } from "../../files/errors.ts";
import { SnapshotError, toSnapshotError } from "../format/layout.ts";
import { type Meta, readMeta } from "../format/meta.ts";
import { openPrivate, type VerifiedDatabase } from "../format/open.ts";
import { companyQueries, searchQueries, userQueries } from "./queries.ts";

export type Snapshot = Awaited<ReturnType<typeof openSnapshot>>;

export type Replacement = { meta: Meta } | { refused: SnapshotError };

export async function openSnapshot(source: string | Uint8Array, copyFolder?: string) {
  const advice = "choose another folder with --cache-dir of serve";
  const verified = await openPrivate(source, { copyFolder, advice });
  try {
    return snapshotOf(verified);
  } catch (error) {
    verified[Symbol.dispose]();
    throw toSnapshotError(source, error);
  }
}

export function snapshotOf({ db, sha256 }: VerifiedDatabase) {
  const parts = {
    users: userQueries(db),
    companies: companyQueries(db),
    search: searchQueries(db),
  };
  return { meta: readMeta(db), sha256, ...parts, close: () => db.$client.close() };
}

/** A version of a file. If there is no file, `file` is the code of the error. */
interface FileVersion {
  /** Stays the same when the file is written to or renamed. */
  file: string;
  /** Changes when the file is written to or moved. */
  state: string;
}

export type ReloadableSnapshot = Awaited<ReturnType<typeof openReloadable>>;

/** Opens a snapshot from its path or bytes. */
export async function openReloadable(initial: string | Uint8Array, copyFolder?: string) {
  let source = initial;
  // The version that was last opened or refused. Found before the file is opened, so that a
  // replacement in between is noticed.
  let version = await findVersion(source);
  let snapshot = await openSnapshot(source, copyFolder);
  let refused: SnapshotError | undefined;
  let isClosed = false;
  let lastTask: Promise<unknown> = Promise.resolve();

  /** Runs one task after another. */
  function enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = lastTask.then(task);
    lastTask = result.catch(() => {});
    return result;
  }

  function swap(next: Snapshot): Meta | undefined {
    if (isClosed) {
      next.close();
      return undefined;
    }
    // Reads are synchronous, and a read that pauses begins again.
    snapshot.close();
    snapshot = next;
    refused = undefined;
    return next.meta;
  }

  async function check(isForced: boolean): Promise<Replacement | undefined> {
    const before = version;
    version = await findVersion(source);
    const isRetry = refused !== undefined && isForced;
    const isSameFile = version.file === before.file;
    const hasChanged = !isSameFile || version.state !== before.state;
    if (isClosed || !(hasChanged || isRetry)) return undefined;

    try {
      const meta = swap(await openSnapshot(source, copyFolder));
      return meta && { meta };
    } catch (error) {
      const isKnown = refused !== undefined && isSameFile;
      const isBug = !(error instanceof SnapshotError);
      refused = isBug ? new SnapshotError("cannot be opened because of a bug") : error;
      if (isBug) throw error;
      return isKnown ? undefined : { refused };
    }
  }

  return {
    /** The snapshot to read from, until the next await: it may be closed after that. */
    current: (): Snapshot => snapshot,

    /**
     * Reads results from the current snapshot, and pauses at each `yield`, so that others can be served.
     * If the snapshot has been replaced in a pause, begins again. Rejects if it has been closed.
     */
    async readWithPauses<Results>(
      read: (snapshot: Snapshot) => Generator<void, Results>,
    ): Promise<Results> {
      let seen = snapshot;
      let steps = read(seen);
      for (;;) {
        const { done, value } = steps.next();
        if (done) return value;
        await pause();
        if (seen === snapshot) continue;
        seen = snapshot;
        steps = read(seen);
      }
    },
    refused: () => refused,

    /**
     * Opens the file if it has changed, or was refused and `isForced` is set. Resolves to undefined
     * unless there is a new snapshot or the first error of a file, which may still be written.
     */
    refresh: (isForced = false) => enqueue(() => check(isForced)),

    /**
     * Replaces a snapshot in memory with the result of passing its bytes to `transform`. Resolves to
     * undefined if the snapshot has been closed by then.
     */
    change: (transform: (bytes: Uint8Array) => Promise<Uint8Array>) =>
      enqueue(async () => {
        if (typeof source === "string") {
          throw new TypeError("for a snapshot file, call applyChanges and then refresh");
        }
        const bytes = await transform(source);
        const meta = swap(await openSnapshot(bytes));
        source = bytes;
        return meta;
      }),

    /** Running tasks have no further effect. */
    close(): void {
      if (!isClosed) snapshot.close();
      isClosed = true;
    },
  };
}

let lastPause = Promise.resolve();

/** Ends in a later tick of the event loop. At most one pause ends in each tick. */
function pause(): Promise<void> {
  lastPause = lastPause.then(() => nextTick());
  return lastPause;
}

/** A snapshot in memory has only one version. A hung network drive does not block the server. */
async function findVersion(source: string | Uint8Array): Promise<FileVersion> {
  if (typeof source !== "string") return { file: "", state: "" };
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(source, { bigint: true });
    return { file: `${dev} ${ino}`, state: `${size} ${mtimeNs} ${ctimeNs}` };
  } catch (error) {
    return { file: codeOf(error), state: "" };
  }
}
