/**
 * A lock for one writer at a time, which the operating system releases when its holder dies. It
 * uses SQLite's lock on a file, because neither Bun nor Node has an API for file locks.
 */
import { chmodSync, lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sqlite } from "#sqlite";
import { isDamagedDatabase, isLocked } from "./errors.ts";

export interface LockOptions {
  /** How long to wait for another writer. Defaults to {@link WAIT_MS}. */
  waitMs?: number | undefined;
  onWait?: (() => void) | undefined;
}

export const WAIT_MS = 60_000;
const RETRY_MS = 50;

/** Thrown after `waitMs`. Names no flag for that time, because not all callers have one. */
export class BusyError extends Error {
  override name = "BusyError";
}

/**
 * Throws an error of SQLite if the lock is held, unless all its holders share it. If the file were
 * deleted, two processes could lock different files.
 */
export function lock(path: string, { isShared = false } = {}): Disposable {
  const existing = lstatSync(path, { throwIfNoEntry: false });
  // A link could make root create a file anywhere.
  if (existing?.isSymbolicLink()) throw new Error(`${path} must not be a symbolic link`);

  const { $client } = sqlite.openWritable(path);
  try {
    // Lets every user who may write to the folder use the lock file.
    if (!existing) chmodSync(path, statSync(dirname(path)).mode & 0o666);
    // Writes nothing, not even a journal, because the transaction is never committed.
    $client.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY");
    $client.exec(isShared ? "BEGIN; SELECT 1 FROM sqlite_schema" : "BEGIN EXCLUSIVE");
    return { [Symbol.dispose]: () => $client.close() };
  } catch (error) {
    $client.close();
    if (!isDamagedDatabase(error)) throw error;
    throw new Error(`${path} is not a Roadbook lock file; remove it if you do not need it`);
  }
}

/**
 * Calls `take` until nobody else has the lock that it takes. Throws a {@link BusyError} after `waitMs`.
 */
export async function waitForLock<Taken>(
  target: string,
  take: () => Taken,
  { waitMs = WAIT_MS, onWait }: LockOptions,
): Promise<Awaited<Taken>> {
  try {
    return await retryWhile(isLocked, take, waitMs, onWait);
  } catch (error) {
    if (!isLocked(error)) throw error;
    throw new BusyError(`another command is still writing ${target} after ${waitMs / 1000} s`);
  }
}

/** Calls `work` again while its error says that something is busy, for up to `waitMs`. */
export async function retryWhile<T>(
  isBusy: (error: unknown) => boolean,
  work: () => T,
  waitMs: number,
  onWait?: () => void,
): Promise<Awaited<T>> {
  const endMs = performance.now() + waitMs;
  for (let times = 0; ; times++) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= endMs) throw error;
    }
    if (times === 0) onWait?.();
    await sleep(RETRY_MS);
  }
}
