/** Holds the snapshot that is being served, and keeps it if a replacement of its file is bad. */
import { statSync } from "node:fs";
import { codeOf } from "../../files/errors.ts";
import type { SnapshotError } from "../format/header-trailer.ts";
import { type Meta, readMeta } from "../format/meta.ts";
import { openPrivate, snapshotError, type VerifiedDatabase } from "../format/open.ts";
import { openCompanies, openUsers } from "./profiles.ts";
import { openResults } from "./results.ts";

export type Snapshot = Awaited<ReturnType<typeof openSnapshot>>;

export type Replacement = { meta: Meta } | { refused: SnapshotError };

export async function openSnapshot(source: string | Uint8Array, copyFolder?: string) {
  const verified = await openPrivate(source, copyFolder);
  try {
    return snapshotOf(verified);
  } catch (error) {
    verified.db.$client.close(true);
    throw snapshotError(source, error);
  }
}

export function snapshotOf({ db, sha256 }: VerifiedDatabase) {
  const parts = { users: openUsers(db), companies: openCompanies(db), search: openResults(db) };
  return { meta: readMeta(db), sha256, ...parts, close: () => db.$client.close(true) };
}

export async function openReloadableSnapshot(source: string | Uint8Array, copyFolder?: string) {
  const findSource = () => (typeof source === "string" ? findIdentity(source) : "");
  // Found before the file is opened, so that a replacement in between is noticed.
  let identity = findSource();
  let snapshot = await openSnapshot(source, copyFolder);
  let refused: SnapshotError | undefined;
  let isClosed = false;
  let lastTask: Promise<unknown> = Promise.resolve();

  function enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = lastTask.then(task);
    lastTask = result.catch(() => {});
    return result;
  }

  async function check(isForced: boolean): Promise<Replacement | undefined> {
    const before = identity;
    identity = findSource();
    if (isClosed || (identity === before && !(refused && isForced))) return undefined;
    try {
      const meta = swap(await openSnapshot(source, copyFolder));
      return isClosed ? undefined : { meta };
    } catch (error) {
      const isKnown = refused && fileOf(identity) === fileOf(before);
      refused = snapshotError(source, error);
      return isKnown ? undefined : { refused };
    }
  }

  function swap(next: Snapshot): Meta {
    if (isClosed) next.close();
    else {
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
    refused: () => refused,
    /**
     * Opens the file if it has changed, or was refused and `isForced` is set. Resolves to undefined
     * unless there is a new snapshot or the first error of a file, which may still be written.
     */
    refresh: (isForced = false) => enqueue(() => check(isForced)),
    /** Replaces a snapshot in memory with the result of passing its bytes to `transform`. */
    change: (transform: (bytes: Uint8Array) => Promise<Uint8Array>): Promise<Meta> =>
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

/** Changes when the file is replaced, written to or moved. An error code if there is no file. */
function findIdentity(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    return codeOf(error);
  }
}

/** Returns the part of an identity that stays the same when the file is written to or renamed. */
const fileOf = (identity: string) => identity.split(",", 2).join();
