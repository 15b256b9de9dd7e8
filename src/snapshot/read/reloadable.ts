/**
 * The snapshot that answers come from just now: opens the file again when it has been replaced, and
 * keeps the old one when the new one is bad. Nothing here watches the clock; who owns it says when to
 * look.
 */
import { statSync } from "node:fs";
import type { Meta } from "../format/meta.ts";
import { openSnapshot, type Snapshot, SnapshotError } from "./open.ts";

/** What became of a replaced file. */
export type Replacement = { meta: Meta } | { refused: SnapshotError };

export interface LiveSnapshot {
  /** Good until the caller waits for something: after that another may be in its place. */
  current(): Snapshot;
  /** Why the file as it is now is not the one answers come from; undefined when it is. */
  refused(): SnapshotError | undefined;
  /** Looks at the file; what came of it, when it is another than the last time. */
  refresh(): Replacement | undefined;
  close(): void;
}

/** Opens the snapshot at a path, or one in bytes, which nothing replaces. Throws a {@link SnapshotError}. */
export function openLiveSnapshot(source: string | Uint8Array): LiveSnapshot {
  const look = () => (typeof source === "string" ? stateOf(source) : "");
  let seen = look();
  let snapshot = openSnapshot(source);
  let refused: SnapshotError | undefined;

  return {
    current: () => snapshot,
    refused: () => refused,
    refresh() {
      const state = look();
      if (state === seen) return undefined;
      // Taken before the file is opened: a file that comes in between is looked at once more.
      seen = state;
      let next: Snapshot;
      try {
        next = openSnapshot(source);
      } catch (error) {
        if (!(error instanceof SnapshotError)) throw error;
        refused = error;
        return { refused };
      }
      const last = snapshot;
      snapshot = next;
      refused = undefined;
      // Whoever reads a snapshot does so without waiting, so nobody is in the middle of it.
      last.close();
      return { meta: next.meta };
    },
    close: () => snapshot.close(),
  };
}

/** Differs when the file is another one, has been written to, or is out of reach for another reason. */
function stateOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true });
    return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join();
  } catch (error) {
    // Opening it says what is wrong, in words for the operator.
    return String((error as NodeJS.ErrnoException).code);
  }
}
