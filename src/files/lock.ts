/**
 * Locks, and folders that only the holder of a lock uses. The operating system releases a lock when its
 * holder dies, but leaves the folder, which the next holder removes. A lock is SQLite's on a file, because
 * neither Bun nor Node has an API for file locks.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { sqlite } from "#sqlite";
import { isDamagedDatabase, isLocked } from "./errors.ts";
import { retryWhile } from "./waiting.ts";

export interface LockOptions {
  /** How long to wait for another writer. Defaults to {@link WAIT_MS}. */
  waitMs?: number | undefined;
  onWait?: (() => void) | undefined;
}

export const WAIT_MS = 60_000;

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

  // Read first, because without the folder, better-sqlite3 would throw a TypeError.
  const { mode } = statSync(dirname(path));
  const { $client } = sqlite.openWritable(path);
  try {
    // Lets every user who may write to the folder use the lock file.
    if (!existing) chmodSync(path, mode & 0o666);
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

export interface LockedFolder extends Disposable {
  /** Where to write. */
  folder: string;
}

/**
 * Makes the folder `path`, which only this user can open, and removes what a killed process left there.
 * Because of `lock`, no other process uses the folder. It is disposed of when the folder has been removed.
 */
export function makeLockedFolder(path: string, lock: Disposable): LockedFolder {
  function remove(): void {
    process.off("exit", remove);
    removeIfPossible(path);
    lock[Symbol.dispose]();
  }

  process.on("exit", remove);
  try {
    removeAll(path);
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // On a disk that is full, an empty folder would take what others free.
    remove();
    throw error;
  }
  return { folder: path, [Symbol.dispose]: remove };
}

function removeIfPossible(path: string): void {
  try {
    removeAll(path);
  } catch {
    // The next process that makes a folder there removes it.
  }
}

/** Removes what is at a path. `rmSync` cannot remove a folder in Wine if it is `recursive`. */
function removeAll(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    rmSync(path, { force: true });
    return;
  }
  for (const name of readdirSync(path)) removeAll(join(path, name));
  rmdirSync(path);
}

/** Unlike /tmp, /var/tmp is never in memory. */
export const TEMPORARY = existsSync("/var/tmp") ? "/var/tmp" : tmpdir();
/** A folder holds these two. The lock is taken first, so a folder with both has been locked. */
const LOCK = "in-use-by-roadbook";
const FILES = "files";

/** Makes a folder in `parent` that only this user can open. It is removed at exit, if not before. */
export async function makeTemporaryFolder(parent = TEMPORARY): Promise<LockedFolder> {
  await removeLeftovers(parent);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const outer = mkdtempSync(join(parent, "roadbook-"));
  const files = join(outer, FILES);
  const taken = lockIfPossible(join(outer, LOCK));
  return makeLockedFolder(files, {
    [Symbol.dispose]() {
      // First, because Windows does not remove a file that is open.
      taken?.[Symbol.dispose]();
      // A folder of which files are left is recognized only with its lock.
      if (!existsSync(files)) removeIfPossible(outer);
    },
  });
}

function lockIfPossible(path: string): Disposable | undefined {
  try {
    return lock(path);
  } catch {
    // This file system has no locks, so nobody can take the folder for a leftover.
    return undefined;
  }
}

/** Removes this user's folders in `parent` whose processes were killed. */
export async function removeLeftovers(parent: string): Promise<void> {
  for (const name of listFolder(parent)) {
    // If this fails, the folder stays for the next start. Another process may be removing it.
    if (/^roadbook-\w{6}$/.test(name)) await removeUnused(join(parent, name)).catch(() => {});
  }
}

/** Without waiting, so that a stream that is read next has no time to fail unobserved. */
function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

async function removeUnused(folder: string): Promise<void> {
  const stats = await lstat(folder);
  if (!stats.isDirectory() || stats.uid !== (process.geteuid?.() ?? stats.uid)) return;
  // Without FILES, it has no data and may be one that is being made.
  if ((await readdir(folder)).sort().join() !== `${FILES},${LOCK}`) return;
  {
    using _unused = lock(join(folder, LOCK));
    await rm(join(folder, FILES), { recursive: true });
  }
  // Last, so that a folder whose files are removed only in part is still recognized, and without the
  // lock, because Windows does not remove a file that is open.
  await rm(folder, { recursive: true });
}
