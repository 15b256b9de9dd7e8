/**
 * Makes folders for temporary files on disk. A killed process cannot remove its folder, so the next
 * process that makes one in the same place does, unless a lock shows that it is still in use.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lock } from "./lock.ts";

/** Unlike /tmp, /var/tmp is never in memory. */
export const TEMPORARY = existsSync("/var/tmp") ? "/var/tmp" : tmpdir();
/** A folder holds these two. The lock is taken first, so a folder with both has been locked. */
const LOCK = "in-use-by-roadbook";
const FILES = "files";

export interface TemporaryFolder extends Disposable {
  /** Where to write. */
  folder: string;
}

/** Makes a folder in `parent` that only this user can open. It is removed at exit, if not before. */
export async function makeTemporaryFolder(parent = TEMPORARY): Promise<TemporaryFolder> {
  await removeLeftovers(parent);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const outer = mkdtempSync(join(parent, "roadbook-"));
  const files = join(outer, FILES);
  const held = lockIfPossible(join(outer, LOCK));
  return makeLockedFolder(files, {
    [Symbol.dispose]() {
      // First, because Windows does not remove a file that is open.
      held?.[Symbol.dispose]();
      // A folder of which files are left is recognized only with its lock.
      if (!existsSync(files)) removeIfPossible(outer);
    },
  });
}

/**
 * Makes the folder `path`, which only this user can open, and removes what a killed process left there.
 * Because of `held`, no other process uses the folder. It is disposed of when the folder has been removed.
 */
export function makeLockedFolder(path: string, held: Disposable): TemporaryFolder {
  function remove(): void {
    process.off("exit", remove);
    removeIfPossible(path);
    held[Symbol.dispose]();
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
