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

interface TemporaryFolder extends Disposable {
  /** Where to write. */
  folder: string;
}

/** Makes a folder that only this user can open. It is removed at exit, if not before. */
export function makeTemporaryFolder(parent = TEMPORARY): TemporaryFolder {
  // Not awaited, because removing files must not delay a start.
  void removeLeftovers(parent);
  return makeFolder(parent);
}

/** Like {@link makeTemporaryFolder}, for a command that may end before leftovers are removed. */
export async function cleanAndMakeFolder(parent: string): Promise<TemporaryFolder> {
  await removeLeftovers(parent);
  return makeFolder(parent);
}

function makeFolder(parent: string): TemporaryFolder {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const outer = mkdtempSync(join(parent, "roadbook-"));
  const folder = join(outer, FILES);
  return makeInside(folder, [folder, outer], lockIfPossible(join(outer, LOCK)));
}

/**
 * Makes the folder `path`, which only this user can open, and removes what a killed process left there.
 * The lock `held`, because of which no other process uses the folder, is released with it.
 */
export function makeLockedFolder(path: string, held: Disposable): TemporaryFolder {
  return makeInside(path, [path], held);
}

/** Makes `folder`, one of the folders that {@link removeAtExit} removes. */
function makeInside(folder: string, all: string[], held?: Disposable): TemporaryFolder {
  const removal = removeAtExit(all, held);
  try {
    removeAll(folder);
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // On a disk that is full, an empty folder would take what others free.
    removal[Symbol.dispose]();
    throw error;
  }
  return { folder, ...removal };
}

/** Removes these folders in this order at exit, if not before. Then releases the lock. */
function removeAtExit(folders: string[], held?: Disposable): Disposable {
  function remove(): void {
    try {
      for (const each of folders) removeAll(each);
    } catch {
      // The next start removes it.
    }
  }

  process.on("exit", remove);
  return {
    [Symbol.dispose]() {
      process.off("exit", remove);
      remove();
      held?.[Symbol.dispose]();
    },
  };
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
  using _unused = lock(join(folder, LOCK));
  // In this order, so that a folder whose files are removed only in part is still recognized.
  for (const each of [join(folder, FILES), folder]) await rm(each, { recursive: true });
}
