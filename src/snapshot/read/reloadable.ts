/**
 * The snapshot that responses come from just now: opens the file again when it has been replaced, and
 * keeps the old one when the new one is bad. Nothing here watches the clock; who owns it says when to
 * check.
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
 * What became of a replaced file. With `isSpoiled`, no snapshot can be served meanwhile: the file of the
 * former one has been written over instead of replaced.
 */
export type Replacement = { meta: Meta } | { refused: SnapshotError; isSpoiled: boolean };

/** A file that cannot be opened for a passing reason is tried again at every so many-th check. */
const CHECKS_UNTIL_RETRY = 5;

/**
 * Opens the snapshot at a path, or one in bytes. `options` hold for this time and not for what comes in
 * its place. Throws a {@link SnapshotError}.
 */
export async function openReloadableSnapshot(
  source: string | Uint8Array,
  options: OpenOptions = {},
) {
  const identity = () => (typeof source === "string" ? findIdentity(source) : "");
  // Read before the file is opened: a file that comes in between is looked at once more.
  let seen = identity();
  let snapshot = await openSnapshot(source, options);
  let refused: SnapshotError | undefined;
  /** The file that was at the path when the snapshot was found spoiled; see {@link fileOf}. */
  let spoiledFile: string | undefined;
  let checks = 0;
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();

  /** After whatever is under way. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  }

  function swap(next: Snapshot): Meta {
    if (isClosed) next.close();
    else {
      // Whoever reads a snapshot does so without waiting, so nobody is in the middle of it.
      snapshot.close();
      snapshot = next;
      refused = undefined;
      spoiledFile = undefined;
    }
    return next.meta;
  }

  async function check(isForced: boolean): Promise<Replacement | undefined> {
    if (isClosed) return undefined;
    const found = identity();
    if (spoiledFile === undefined && snapshot.isSpoiled()) {
      // Said before anything else: to read the file again takes time, and requests fail meanwhile.
      spoiledFile = fileOf(found);
      refused = snapshotError(source, new SpoiledSnapshot());
      return { refused, isSpoiled: true };
    }
    const isChanged = found !== seen;
    const isSpoiled = spoiledFile !== undefined;
    const isRetry = (refused?.isPassing || isSpoiled) && ++checks % CHECKS_UNTIL_RETRY === 0;
    if (!(isChanged || isRetry || (refused && isForced))) return undefined;
    seen = found;
    try {
      const meta = swap(await openSnapshot(source));
      return isClosed ? undefined : { meta };
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      // While the file is written over, it is bad in one way after another.
      const isNew =
        (isChanged || error.message !== refused?.message) && fileOf(found) !== spoiledFile;
      refused = error;
      return isNew ? { refused, isSpoiled } : undefined;
    }
  }

  return {
    /** Good until the caller waits for something: after that another may be in its place. */
    current: () => snapshot,
    /** Why the file as it is now is not the one responses come from; undefined when it is. */
    refused: () => refused,
    /**
     * Checks the file; resolves to what came of it, when that is new. One that could not be opened
     * for a passing reason is tried again at some of the next checks, a bad one when it changes; with
     * `isForced`, both at once.
     */
    refresh: (isForced = false) => inTurn(() => check(isForced)),
    /** Has `make` turn the bytes of the snapshot into those of the one in its place. */
    change: (make: (bytes: Uint8Array) => Promise<Uint8Array>) =>
      inTurn(async () => {
        if (typeof source === "string") {
          throw new TypeError(
            "apply changes a snapshot in memory; change a file with applyChanges, then call refresh",
          );
        }
        const bytes = await make(source);
        const meta = swap(await openSnapshot(bytes));
        source = bytes;
        return meta;
      }),
    /** At once: what is under way changes nothing more. */
    close(): void {
      if (!isClosed) snapshot.close();
      isClosed = true;
    },
  };
}
