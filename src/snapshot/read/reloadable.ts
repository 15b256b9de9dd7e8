/**
 * The snapshot that responses come from just now: opens the file again when it has been replaced, and
 * keeps the old one when the new one is bad. Nothing here watches the clock; who owns it says when to
 * look.
 */
import { statSync } from "node:fs";
import { codeOf } from "../../files/errors.ts";
import { identityOf } from "../../files/read.ts";
import type { Meta } from "../format/meta.ts";
import { type OpenOptions, openSnapshot, type Snapshot, SnapshotError } from "./open.ts";

/** What became of a replaced file. */
export type Replacement = { meta: Meta } | { refused: SnapshotError };

export interface ReloadableSnapshot {
  /** Good until the caller waits for something: after that another may be in its place. */
  current(): Snapshot;
  /** Why the file as it is now is not the one responses come from; undefined when it is. */
  refused(): SnapshotError | undefined;
  /**
   * Looks at the file, after any look that is under way; resolves to what came of it, when that is
   * new. A file that could not be opened for a passing reason is tried again at some of the next
   * looks, a bad one when it changes; with `isForced`, both at once.
   */
  refresh(isForced?: boolean): Promise<Replacement | undefined>;
  close(): void;
}

/** Between two tries of a file that cannot be opened for a passing reason, so many looks go by at most. */
const MAX_SKIPPED = 16;

/**
 * Opens the snapshot at a path, or one in bytes, which nothing replaces. `options` hold for this time
 * and not for what comes in its place. Throws a {@link SnapshotError}.
 */
export async function openReloadableSnapshot(
  source: string | Uint8Array,
  options: OpenOptions = {},
): Promise<ReloadableSnapshot> {
  const identity = () => (typeof source === "string" ? findIdentity(source) : "");
  // Read before the file is opened: a file that comes in between is looked at once more.
  let seen = identity();
  let snapshot = await openSnapshot(source, options);
  let refused: SnapshotError | undefined;
  let failures = 0;
  let skipped = 0;
  let isClosed = false;
  let lastLook: Promise<unknown> = Promise.resolve();

  function isDue(isChanged: boolean, isForced: boolean): boolean {
    if (isChanged || !refused) return isChanged;
    return isForced || (refused.isPassing && ++skipped > Math.min(2 ** failures, MAX_SKIPPED));
  }

  async function look(isForced: boolean): Promise<Replacement | undefined> {
    const found = identity();
    const isChanged = found !== seen;
    if (isClosed || !isDue(isChanged, isForced)) return undefined;
    seen = found;
    skipped = 0;
    let next: Snapshot;
    try {
      next = await openSnapshot(source);
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      const isNew = isChanged || error.message !== refused?.message;
      failures = isChanged ? 0 : failures + 1;
      refused = error;
      return isNew ? { refused } : undefined;
    }
    if (isClosed) {
      next.close();
      return undefined;
    }
    const last = snapshot;
    snapshot = next;
    refused = undefined;
    failures = 0;
    // Whoever reads a snapshot does so without waiting, so nobody is in the middle of it.
    last.close();
    return { meta: next.meta };
  }

  return {
    current: () => snapshot,
    refused: () => refused,
    refresh(isForced = false) {
      const next = lastLook.then(() => look(isForced));
      lastLook = next.catch(() => {});
      return next;
    },
    close() {
      if (!isClosed) snapshot.close();
      isClosed = true;
    },
  };
}

/** Differs, too, when the file is out of reach for another reason. */
function findIdentity(path: string): string {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch (error) {
    // Opening it says what is wrong, in words for the operator.
    return codeOf(error);
  }
}
