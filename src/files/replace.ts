/**
 * Replaces a file atomically: the new file is written to a private folder beside the old file,
 * flushed to disk, and then renamed. If the process is killed, the old file stays intact, and the
 * next process that writes the file removes the leftover folder.
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

/** Thrown if another process is writing the target. */
export class BusyError extends Error {
  override name = "BusyError";
}

/** The interval at which a waiting process tries to take the lock. */
const POLL_MS = 50;

/** The lock file in a temporary folder. The process that uses the folder holds the lock. */
const FOLDER_LOCK = ".lock";

const entirely = { recursive: true, force: true };

/** Cleanup functions to call if the process exits before its files are finished. */
const unfinished = new Set<() => void>();

/**
 * Deletes the temporary files of unfinished calls. Must be called before the process exits early.
 */
export function discardUnfinished(): void {
  for (const discard of [...unfinished].reverse()) discard();
}

/**
 * Calls `write` to create a file at a temporary path, then moves this file to `target` and gives it
 * the permissions of the old file. If `target` is a symbolic link, the file at the end of the link
 * is replaced, and the second argument of `write` is that file's path. `write` may leave other
 * files beside the temporary path. If `write` throws, `target` is untouched. The message of a file
 * system error is a single line that names `target`. Throws a {@link BusyError} if another process
 * is writing `target`.
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
        // Asynchronous, because renaming also deletes the old file, which takes 0.2 s for a
        // gigabyte.
        await rename(path, file);
        await sync(parent);
        return result;
      });
    });
  });
}

/** A dry run of {@link replaceFile} that deletes the file that `write` creates. */
export function rehearseFile<T>(
  target: string,
  write: (path: string, target: string) => Promise<T>,
): Promise<T> {
  return namingErrors(target, () => {
    const file = findReplaceable(target);
    return inTemporaryFolder((folder) => write(join(folder, basename(file)), file));
  });
}

/**
 * Waits until no process is writing `target`. Resolves to false if this takes longer than
 * `timeoutMs`.
 */
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
 * Calls `use` with a private temporary folder, which is removed afterwards. First removes the
 * folders that killed processes left behind.
 */
export async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  await sweepTemporaryFolders();
  const { folder, release } = makeTemporaryFolder();
  return discardingAfter(release, release, () => inFolder(folder, use));
}

/** Whether two paths lead to the same file, even through links. The path `-` is standard input. */
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

/** Creates a temporary folder and locks it, so that no other process removes the folder. */
function makeTemporaryFolder(): { folder: string; release: () => void } {
  for (;;) {
    const folder = mkdtempSync(join(tmpdir(), "roadbook-")); // mode 0700
    const path = join(folder, FOLDER_LOCK);
    try {
      const release = lock(path);
      if (release && existsSync(path)) return { folder, release };
      release?.();
    } catch (error) {
      if (existsSync(folder)) throw error;
    }
    // Another process removed the folder as abandoned before the lock was taken, so try again.
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
      // Another process may be removing the folder at the same time.
    }
  }
}

/**
 * Whether `inTemporaryFolder` created the folder for this user. If so, only this user can write to
 * the folder.
 */
function isTemporaryFolder(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory() || found.uid !== process.getuid?.() || found.mode & 0o077) return false;
  return lstatSync(join(folder, FOLDER_LOCK), { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Calls `use` with `folder`, then removes the folder. */
function inFolder<T>(folder: string, use: (folder: string) => Promise<T>): Promise<T> {
  // Deleting large files is slow, so the deletion is synchronous only if the process is exiting.
  return discardingAfter(
    () => rm(folder, entirely),
    () => rmSync(folder, entirely),
    () => use(folder),
  );
}

/** Calls `use`, then `discard`. If the process exits early, `discardNow` is called instead. */
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

/** The path of the lock file that a process must lock before it writes `file`. */
function lockOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.lock`);
}

/** Resolves the symbolic links in a path, even if the file at the end does not exist. */
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

/**
 * Returns the path of the file to replace. The file need not exist, but its folder must be
 * writable.
 */
function findReplaceable(target: string): string {
  const file = followLinks(target);
  const old = statSync(file, { throwIfNoEntry: false });
  if (old && !old.isFile()) throw new Error(`${target} is not a regular file`);
  accessSync(dirname(file), constants.W_OK);
  return file;
}

/**
 * Removes the folders of writers that were killed. The caller holds the lock, so no other
 * process is writing the file.
 */
async function sweep(parent: string, name: string): Promise<void> {
  // The names that Roadbook 0.1 used for its temporary files.
  const former = [`.${name}.new`, `.${name}.new-journal`];
  for (const entry of readdirSync(parent)) {
    const isFolder = entry.startsWith(`.${name}.tmp-`) && entry.length === name.length + 12;
    if (isFolder || former.includes(entry)) {
      await rm(join(parent, entry), entirely);
    }
  }
}

/** Copies the old file's mode to the new file. If this process is root, also copies the owner. */
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
