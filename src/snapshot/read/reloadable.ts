/**
 * Holds the snapshot that is being served. Opens the file again after it has been replaced, but
 * keeps the old snapshot if the new one is bad. The caller decides when to check the file.
 */
import { fileOf, findIdentity } from "../../files/read.ts";
import { SnapshotError } from "../format/file.ts";
import type { Meta } from "../format/meta.ts";
import { openSnapshot, type Snapshot, SpoiledSnapshot, snapshotError } from "./open.ts";

/**
 * The result of a check that found a change. If `isSpoiled` is true, the file of the current
 * snapshot was overwritten in place, so nothing can be served until there is a good file.
 */
export type Replacement = { meta: Meta } | { refused: SnapshotError; isSpoiled: boolean };

/** After a transient error, every fifth check tries to open the file again. */
const CHECKS_UNTIL_RETRY = 5;

/** Opens a snapshot from its path or its bytes. Throws a {@link SnapshotError} if that fails. */
export async function openReloadableSnapshot(
  source: string | Uint8Array,
): Promise<ReloadableSnapshot> {
  // Gets the identity before the file is opened, so that a replacement in between is noticed.
  const identity = identityOf(source);
  return new ReloadableSnapshot(source, identity, await openSnapshot(source));
}

function identityOf(source: string | Uint8Array): string {
  return typeof source === "string" ? findIdentity(source) : "";
}

class ReloadableSnapshot {
  #source: string | Uint8Array;
  /** The file's identity at the last attempt to open it. */
  #identity: string;
  #snapshot: Snapshot;
  #refused: SnapshotError | undefined;
  /** Which file was at the path when the snapshot was found to be spoiled; see {@link fileOf}. */
  #spoiledFile: string | undefined;
  #checks = 0;
  #isClosed = false;
  #lastTask: Promise<unknown> = Promise.resolve();

  constructor(source: string | Uint8Array, identity: string, snapshot: Snapshot) {
    this.#source = source;
    this.#identity = identity;
    this.#snapshot = snapshot;
  }

  /** The snapshot to read from. Do not use it after the next await: it may be closed by then. */
  current = (): Snapshot => this.#snapshot;

  /** Why the file at the path is not being served. Undefined if the file is being served. */
  refused = (): SnapshotError | undefined => this.#refused;

  /**
   * Checks the file and resolves to the result, or to undefined if nothing has changed. A bad file
   * is opened again when it changes or, after a transient error, on a later check. With `isForced`,
   * this check always opens a bad file again.
   */
  refresh = (isForced = false): Promise<Replacement | undefined> =>
    this.#enqueue(() => this.#check(isForced));

  /** Replaces a snapshot in memory with the result of passing its bytes to `transform`. */
  change(transform: (bytes: Uint8Array) => Promise<Uint8Array>): Promise<Meta> {
    return this.#enqueue(async () => {
      if (typeof this.#source === "string") {
        throw new TypeError(
          "apply needs a snapshot in memory; for a file, call applyChanges and then refresh",
        );
      }
      const bytes = await transform(this.#source);
      const meta = this.#swap(await openSnapshot(bytes));
      this.#source = bytes;
      return meta;
    });
  }

  /** Closes the snapshot immediately. Tasks that are still running have no further effect. */
  close(): void {
    if (!this.#isClosed) this.#snapshot.close();
    this.#isClosed = true;
  }

  /** Runs a task after all earlier tasks have finished. */
  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#lastTask.then(task);
    this.#lastTask = result.catch(() => {});
    return result;
  }

  async #check(isForced: boolean): Promise<Replacement | undefined> {
    if (this.#isClosed) return undefined;
    const identity = identityOf(this.#source);
    if (this.#spoiledFile === undefined && this.#snapshot.isSpoiled()) {
      // The spoiled file is reported before the new file is read, because reading takes time and
      // requests fail in the meantime.
      this.#spoiledFile = fileOf(identity);
      this.#refused = snapshotError(this.#source, new SpoiledSnapshot());
      return { refused: this.#refused, isSpoiled: true };
    }
    const isChanged = identity !== this.#identity;
    const isSpoiled = this.#spoiledFile !== undefined;
    const mayRetry = this.#refused?.isTransient || isSpoiled;
    const isRetry = mayRetry && ++this.#checks % CHECKS_UNTIL_RETRY === 0;
    if (!(isChanged || isRetry || (this.#refused && isForced))) return undefined;
    this.#identity = identity;
    try {
      const meta = this.#swap(await openSnapshot(this.#source));
      return this.#isClosed ? undefined : { meta };
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      // While a file is being overwritten, each check may find a different error. Only the first
      // error is reported.
      const isSameFile = fileOf(identity) === this.#spoiledFile;
      const isNew = (isChanged || error.message !== this.#refused?.message) && !isSameFile;
      this.#refused = error;
      return isNew ? { refused: error, isSpoiled } : undefined;
    }
  }

  #swap(next: Snapshot): Meta {
    if (this.#isClosed) {
      next.close();
    } else {
      // Reads are synchronous, so no read of the old snapshot can be in progress.
      this.#snapshot.close();
      this.#snapshot = next;
      this.#refused = undefined;
      this.#spoiledFile = undefined;
    }
    return next.meta;
  }
}
