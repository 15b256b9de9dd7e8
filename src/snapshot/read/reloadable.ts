/**
 * The snapshot that is being served. Opens the file again when it is replaced, and keeps the old
 * snapshot if the new one is bad. Never watches the clock: the caller decides when to check.
 */
import { fileOf, findIdentity } from "../../files/read.ts";
import type { Meta } from "../format/meta.ts";
import {
  type OpenOptions,
  openSnapshot,
  type Snapshot,
  SnapshotError,
  SpoiledSnapshot,
  snapshotError,
} from "./open.ts";

/**
 * The result of a check that found something new. With `isSpoiled`, nothing can be served for now:
 * the file of the current snapshot was overwritten in place.
 */
export type Replacement = { meta: Meta } | { refused: SnapshotError; isSpoiled: boolean };

/** After a transient error, every fifth check tries to open the file again. */
const CHECKS_UNTIL_RETRY = 5;

/**
 * Opens the snapshot at a path, or the one in `source`. `options` apply to this snapshot and not to
 * those that replace it. Throws a {@link SnapshotError}.
 */
export async function openReloadableSnapshot(
  source: string | Uint8Array,
  options: OpenOptions = {},
): Promise<ReloadableSnapshot> {
  // Taken before the file is opened, so that a replacement in between is noticed.
  const identity = identityOf(source);
  return new ReloadableSnapshot(source, identity, await openSnapshot(source, options));
}

function identityOf(source: string | Uint8Array): string {
  return typeof source === "string" ? findIdentity(source) : "";
}

class ReloadableSnapshot {
  #source: string | Uint8Array;
  /** The identity of the file that was last opened, or tried. */
  #identity: string;
  #snapshot: Snapshot;
  #refused: SnapshotError | undefined;
  /** The file that was at the path when the snapshot was found spoiled; see {@link fileOf}. */
  #spoiledFile: string | undefined;
  #checks = 0;
  #isClosed = false;
  #lastTask: Promise<unknown> = Promise.resolve();

  constructor(source: string | Uint8Array, identity: string, snapshot: Snapshot) {
    this.#source = source;
    this.#identity = identity;
    this.#snapshot = snapshot;
  }

  /** The snapshot to read from. Use it before the next await: after that it may be closed. */
  current = (): Snapshot => this.#snapshot;

  /** Why the file at the path is not being served; undefined if it is. */
  refused = (): SnapshotError | undefined => this.#refused;

  /**
   * Checks the file and resolves to the result, or to undefined if there is nothing new. A bad file
   * is opened again when it changes. After a transient error, some later check tries again. With
   * `isForced`, this check tries again in both cases.
   */
  refresh = (isForced = false): Promise<Replacement | undefined> =>
    this.#enqueue(() => this.#check(isForced));

  /** Replaces a snapshot in memory with the one that `transform` makes from its bytes. */
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

  /** Closes at once. Tasks that are still running change nothing more. */
  close(): void {
    if (!this.#isClosed) this.#snapshot.close();
    this.#isClosed = true;
  }

  /** Runs one task after another. */
  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#lastTask.then(task);
    this.#lastTask = result.catch(() => {});
    return result;
  }

  async #check(isForced: boolean): Promise<Replacement | undefined> {
    if (this.#isClosed) return undefined;
    const identity = identityOf(this.#source);
    if (this.#spoiledFile === undefined && this.#snapshot.isSpoiled()) {
      // Reported first: reading the file again takes time, and requests fail meanwhile.
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
      // While a file is being overwritten, its error keeps changing. Only the first is reported.
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
      // Reads are synchronous, so none can be running now.
      this.#snapshot.close();
      this.#snapshot = next;
      this.#refused = undefined;
      this.#spoiledFile = undefined;
    }
    return next.meta;
  }
}
