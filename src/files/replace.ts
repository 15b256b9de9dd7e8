/**
 * Replaces a file atomically: the new file is written in a private folder beside the old one,
 * flushed to disk, and renamed. A killed process leaves the old file intact and its folder behind,
 * which the next process that writes the file removes.
 */
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { codeOf, isFileSystemError, reasonOf } from "./errors.ts";
import { lock } from "./lock.ts";

/** Another process is writing the target. */
export class BusyError extends Error {
  override name = "BusyError";
}

/** How often a waiting process tries the lock. */
const POLL_MS = 50;

/** The file in a temporary folder that is locked by the process using the folder. */
const FOLDER_LOCK = ".lock";

const entirely = { recursive: true, force: true };

/** The cleanup to run if the process exits before a file is finished. */
const unfinished = new Set<() => void>();

/**
 * Removes what unfinished calls leave on disk. A process that exits at once must call this first.
 */
export function discardUnfinished(): void {
  for (const discard of [...unfinished].reverse()) discard();
}

/**
 * Calls `write` to make a file at a temporary path, then moves the file to `target` and gives it
 * the permissions of the old one. If `target` is a symbolic link, the file that it leads to is
 * replaced, and `write` gets that file's path as its second argument. `write` may leave other files
 * beside the temporary path. If it throws, `target` is untouched. File system errors become one
 * line that names `target`. Throws a {@link BusyError} if another process is writing `target`.
 */
export function replaceFile<T>(
  target: string,
  write: (path: string, target: string) => Promise<T>,
): Promise<T> {
  return namingErrors(target, async () => {
    const file = findReplaceable(target);
    const [parent, name] = [dirname(file), basename(file)];
    const release = lock(lockOf(file));
    if (!release) throw new BusyError(`another command is currently writing ${target}`);
    return await discardingAfter(release, release, async () => {
      await sweep(parent, name);
      return inFolder(mkdtempSync(join(parent, `.${name}.tmp-`)), async (folder) => {
        const path = join(folder, name);
        const result = await write(path, file);
        keepPermissions(file, path);
        await sync(path);
        // Not synchronous, because it may delete the old file: 0.2 s for a gigabyte.
        await rename(path, file);
        await sync(parent);
        return result;
      });
    });
  });
}

/** A dry run of {@link replaceFile}: the file that `write` makes is deleted. */
export function rehearseFile<T>(
  target: string,
  write: (path: string, target: string) => Promise<T>,
): Promise<T> {
  return namingErrors(target, () => {
    const file = findReplaceable(target);
    return inTemporaryFolder((folder) => write(join(folder, basename(file)), file));
  });
}

/** Waits until no process is writing `target`. Resolves to false after `timeoutMs`. */
export async function untilFree(target: string, timeoutMs: number): Promise<boolean> {
  for (const end = performance.now() + timeoutMs; performance.now() < end; ) {
    const release = lock(lockOf(followLinks(target)));
    release?.();
    if (release) return true;
    await setTimeout(POLL_MS);
  }
  return false;
}

/**
 * Calls `use` with a private temporary folder and removes it afterwards. Also removes the folders
 * of killed processes.
 */
export async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  await sweepTemporaryFolders();
  const { folder, release } = makeTemporaryFolder();
  return discardingAfter(release, release, () => inFolder(folder, use));
}

/** Whether two paths lead to the same file, also through links. `-` is standard input. */
export function isSameFile(a: string, b: string): boolean {
  const [first, second] = [a, b].map((path) => {
    try {
      return path === "-" ? fstatSync(0) : statSync(path);
    } catch {
      return undefined;
    }
  });
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

/** Creates a folder and locks it, so that no other process removes it. */
function makeTemporaryFolder(): { folder: string; release: () => void } {
  for (;;) {
    const folder = mkdtempSync(join(tmpdir(), "roadbook-")); // 0700
    const path = join(folder, FOLDER_LOCK);
    try {
      const release = lock(path);
      if (release && existsSync(path)) return { folder, release };
      release?.();
    } catch (error) {
      if (existsSync(folder)) throw error;
    }
    // Another process took the folder for an abandoned one and removed it before it was locked.
  }
}

async function sweepTemporaryFolders(): Promise<void> {
  const parent = tmpdir();
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (!/^roadbook-\w{6}$/.test(name) || !isTemporaryFolder(folder)) continue;
    try {
      const release = lock(join(folder, FOLDER_LOCK));
      if (!release) continue;
      await discardingAfter(release, release, () => rm(folder, entirely));
    } catch {
      // Another process may be removing it at the same time.
    }
  }
}

/** Whether `inTemporaryFolder` created it for this user. Then no other user can write to it. */
function isTemporaryFolder(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory() || found.uid !== process.getuid?.() || found.mode & 0o077) return false;
  return lstatSync(join(folder, FOLDER_LOCK), { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Calls `use` with a folder and removes it afterwards. */
function inFolder<T>(folder: string, use: (folder: string) => Promise<T>): Promise<T> {
  // Large files take long to delete, so deletion is synchronous only when the process exits.
  return discardingAfter(
    () => rm(folder, entirely),
    () => rmSync(folder, entirely),
    () => use(folder),
  );
}

/** Calls `discard` after `use`, or `discardNow` if the process exits first. */
async function discardingAfter<T>(
  discard: () => void | Promise<void>,
  discardNow: () => void,
  use: () => Promise<T>,
): Promise<T> {
  unfinished.add(discardNow);
  try {
    return await use();
  } finally {
    await discard();
    unfinished.delete(discardNow);
  }
}

/** The lock file for writing `file`. */
function lockOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.lock`);
}

/** The path at the end of symbolic links, whether the file exists or not. */
function followLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  if (!isLink) return resolve(path);
  return followLinks(resolve(realpathSync(dirname(path)), readlinkSync(path)));
}

async function namingErrors<T>(target: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    throw new Error(`cannot write ${target}: ${reasonOf(error)}`);
  }
}

/** The file to replace, whether it exists or not. Its folder must be writable. */
function findReplaceable(target: string): string {
  const file = followLinks(target);
  const old = statSync(file, { throwIfNoEntry: false });
  if (old && !old.isFile()) throw new Error(`${target} is not a regular file`);
  accessSync(dirname(file), constants.W_OK);
  return file;
}

/** Removes the folders of killed writers. The caller has the lock, so none is alive. */
async function sweep(parent: string, name: string): Promise<void> {
  // The names that Roadbook 0.1 used.
  const former = [`.${name}.new`, `.${name}.new-journal`];
  for (const entry of readdirSync(parent)) {
    const isFolder = entry.startsWith(`.${name}.tmp-`) && entry.length === name.length + 12;
    if (isFolder || former.includes(entry)) {
      await rm(join(parent, entry), entirely);
    }
  }
}

/** Gives the new file the mode of the old one, and its owner if this process is root. */
function keepPermissions(from: string, to: string): void {
  const old = statSync(from, { throwIfNoEntry: false });
  if (!old) return;
  if (process.getuid?.() === 0) chownSync(to, old.uid, old.gid);
  chmodSync(to, old.mode);
}

async function sync(path: string): Promise<void> {
  await using file = await open(path);
  await file.sync();
}
