/**
 * Puts a new file in the place of an old one, whole or not at all: written in a folder of its own
 * beside it, flushed to disk, renamed. Whoever is killed half way leaves the old file as it was, and a
 * folder that only its owner can look into; the next who writes that file removes it.
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

/** A process that uses a temporary folder holds the lock on this file in it. */
const FOLDER_LOCK = ".lock";

const entirely = { recursive: true, force: true };

/** What is to be done when the process ends before a file has its place. */
const unfinished = new Set<() => void>();

/** Removes what files that are being written have beside their targets, for who exits at once. */
export function discardUnfinished(): void {
  for (const discard of [...unfinished].reverse()) discard();
}

/**
 * Has `write` make a file at the path it is given, then moves that file to `target`, where it has
 * the permissions of the one before; a symbolic link stays, and the file it leads to is replaced.
 * `write` gets that file, too. It may leave more beside the path: the folder goes in the end. When
 * `write` throws, `target` is untouched. Errors of the file system become one line that names `target`.
 * Throws a {@link BusyError} when another process is writing it.
 */
export function replaceFile<T>(
  target: string,
  write: (path: string, target: string) => Promise<T>,
): Promise<T> {
  return namingErrors(target, async () => {
    const file = findReplaceable(target);
    const [parent, name] = [dirname(file), basename(file)];
    const release = lock(lockOf(file));
    if (!release) throw new BusyError(`another command is writing ${target} at this moment`);
    return await discardingAfter(release, release, async () => {
      await sweep(parent, name);
      return inFolder(mkdtempSync(join(parent, `.${name}.tmp-`)), async (folder) => {
        const path = join(folder, name);
        const result = await write(path, file);
        keepPermissions(file, path);
        await sync(path);
        // Not synchronously: it may delete the old file, which takes 0.2 s for a gigabyte.
        await rename(path, file);
        await sync(parent);
        return result;
      });
    });
  });
}

/** The same, but the file that `write` makes is thrown away, and `target` stays as it is. */
export function rehearseFile<T>(
  target: string,
  write: (path: string, target: string) => Promise<T>,
): Promise<T> {
  return namingErrors(target, () => {
    const file = findReplaceable(target);
    return inTemporaryFolder((folder) => write(join(folder, basename(file)), file));
  });
}

/** Waits until no other process writes `target`, at most `timeoutMs`; resolves to whether that is so. */
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
 * Runs `use` in a private temporary folder, which is removed afterwards, as are the folders of killed
 * processes.
 */
export async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  await sweepTemporaryFolders();
  const { folder, release } = makeTemporaryFolder();
  return discardingAfter(release, release, () => inFolder(folder, use));
}

/** Whether two paths lead to one file, by whatever links and spelling. `-` is standard input. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => {
    try {
      return path === "-" ? fstatSync(0) : statSync(path);
    } catch {
      return undefined;
    }
  });
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

/** Makes a folder and locks it, so that no other process removes it. */
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
    // Another process removed it, as an abandoned one, before it was locked.
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
      // Another process may be removing it, too.
    }
  }
}

/** Whether `inTemporaryFolder` made it for the same user: then nobody else can write to it. */
function isTemporaryFolder(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory() || found.uid !== process.getuid?.() || found.mode & 0o077) return false;
  return lstatSync(join(folder, FOLDER_LOCK), { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Runs `use` in a folder, which is removed afterwards. */
function inFolder<T>(folder: string, use: (folder: string) => Promise<T>): Promise<T> {
  // A large file takes long to delete: only a process that exits waits for that.
  return discardingAfter(
    () => rm(folder, entirely),
    () => rmSync(folder, entirely),
    () => use(folder),
  );
}

/** Calls `discard` after `use`, or `discardAtOnce` when the process ends before. */
async function discardingAfter<T>(
  discard: () => void | Promise<void>,
  discardAtOnce: () => void,
  use: () => Promise<T>,
): Promise<T> {
  unfinished.add(discardAtOnce);
  try {
    return await use();
  } finally {
    await discard();
    unfinished.delete(discardAtOnce);
  }
}

/** The lock of a file that is written. */
function lockOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.lock`);
}

/** The file at the end of symbolic links, whether there is one or not. */
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

/** The file that a new one would replace, whether there is one or not, in a folder that can be written. */
function findReplaceable(target: string): string {
  const file = followLinks(target);
  const old = statSync(file, { throwIfNoEntry: false });
  if (old && !old.isFile()) throw new Error(`${target} is not a file that can be replaced`);
  accessSync(dirname(file), constants.W_OK);
  return file;
}

/** Removes what killed writers of `name` have left. Nobody else writes it: the caller has the lock. */
async function sweep(parent: string, name: string): Promise<void> {
  // Roadbook 0.1 worked at the fixed name.
  const former = [`.${name}.new`, `.${name}.new-journal`];
  for (const entry of readdirSync(parent)) {
    const isFolder = entry.startsWith(`.${name}.tmp-`) && entry.length === name.length + 12;
    if (isFolder || former.includes(entry)) {
      await rm(join(parent, entry), entirely);
    }
  }
}

/** Who may read the old file may read the new one. The owner is root's to give. */
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
