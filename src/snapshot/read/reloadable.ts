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

/**
 * Opens a snapshot from its path or its bytes. A large file is copied to `copyFolder`. Throws a
 * {@link SnapshotError} if that fails.
 */
export async function openReloadableSnapshot(
  source: string | Uint8Array,
  copyFolder?: string,
): Promise<ReloadableSnapshot> {
  // Gets the identity before the file is opened, so that a replacement in between is noticed.
  const identity = identityOf(source);
  const snapshot = await openSnapshot(source, copyFolder);
  return new ReloadableSnapshot(source, copyFolder, identity, snapshot);
}

function identityOf(source: string | Uint8Array): string {
  return typeof source === "string" ? findIdentity(source) : "";
}

class ReloadableSnapshot {
  #source: string | Uint8Array;
  readonly #copyFolder: string | undefined;
  /** The file's identity at the last attempt to open it. */
  #identity: string;
  #snapshot: Snapshot;
  #refused: SnapshotError | undefined;
  #checks = 0;
  #isClosed = false;
  #lastTask: Promise<unknown> = Promise.resolve();

  constructor(
    source: string | Uint8Array,
    copyFolder: string | undefined,
    identity: string,
    snapshot: Snapshot,
  ) {
    this.#source = source;
    this.#copyFolder = copyFolder;
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
   * this check always opens a bad file again. While a file is being written, only its first error
   * is a result.
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
    const [before, identity] = [this.#identity, identityOf(this.#source)];
    const isRetry = this.#refused?.isTransient && ++this.#checks % CHECKS_UNTIL_RETRY === 0;
    const isDue = identity !== before || isRetry || (this.#refused && isForced);
    if (!isDue) return undefined;
    this.#identity = identity;
    try {
      const meta = this.#swap(await openSnapshot(this.#source, this.#copyFolder));
      return this.#isClosed ? undefined : { meta };
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      const isWritten = identity !== before && fileOf(identity) === fileOf(before);
      const isSame = identity === before && error.message === this.#refused?.message;
      const isKnown = this.#refused && (isWritten || isSame);
      this.#refused = error;
      return isKnown ? undefined : { refused: error };
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
    }
    return next.meta;
  }
}
