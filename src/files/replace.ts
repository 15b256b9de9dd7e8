/**
 * Replaces files atomically: a new file is written in a folder beside the old one, flushed, and renamed.
 *
 *     await replaceFile("list.txt", ({ next }) => writeFile(next, "one line"));
 */
import * as fs from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { codeOf, naming } from "./errors.ts";
import { asFile } from "./input.ts";
import {
  type LockedFolder,
  type LockOptions,
  lock,
  makeLockedFolder,
  makeTemporaryFolder,
  waitForLock,
} from "./lock.ts";
import { retryWhile } from "./waiting.ts";

export interface Paths {
  /** Where to write the new file, in an empty folder for it and others, which only this user can open. */
  next: string;
  /** The file that will be replaced, which may be missing but is no symbolic link. */
  current: string;
}

/** The name of the new file in its folder. */
const NEW = "new";

/** How long to wait for other programs to close a file. */
const BUSY_MS = 5000;

export interface ReplaceOptions extends LockOptions {
  /** Whether only one writer at a time may have the file. Its lock file stays. Defaults to true. */
  isLocked?: boolean;
  /** The mode of a file that did not exist. Defaults to what the umask allows. */
  mode?: number;
  /** Called just before the rename. From then on, a command must not end as if it had failed. */
  onCommit?: (() => void) | undefined;
}

/**
 * Calls `write`, then moves the new file to `target` or, if that is a symbolic link, to the file it leads
 * to. The new file gets the mode of the old one and, if this process is root, its owner. If the process is
 * killed, the next call for the same target removes what is left.
 *
 * An error of the file system in `write` names `target`, so `write` must name all other files.
 */
export function replaceFile<T>(
  target: string,
  write: (paths: Paths) => Promise<T>,
  { isLocked = true, ...options }: ReplaceOptions = {},
): Promise<T> {
  return naming(target, "write", async () => {
    const current = findReplaceable(target);
    using temporary = isLocked
      ? await makeOnlyFolder(target, current, options)
      : await makeTemporaryFolder(dirname(current));
    const paths = { current, next: join(temporary.folder, NEW) };
    const result = await write(paths);
    await commit(paths, options);
    return result;
  });
}

/** Makes the folder of the only writer of a file, who has the lock until it is removed. */
async function makeOnlyFolder(
  target: string,
  current: string,
  options: LockOptions,
): Promise<LockedFolder> {
  const taken = await waitForLock(target, () => lock(hiddenBeside(current, "lock")), options);
  // Each user has their own, because nobody can empty the folder of another user.
  return makeLockedFolder(hiddenBeside(current, `new-${process.getuid?.() ?? ""}`), taken);
}

async function commit({ next, current }: Paths, { mode, onCommit }: ReplaceOptions): Promise<void> {
  await copyModeAndFlush(next, current, mode);
  onCommit?.();
  // Asynchronous, because renaming also deletes the old file, which takes long if it is large.
  await renameWhenFree(next, current);
  flushFolder(dirname(current));
}

/** Whether a writer may have the lock of this file, which need not exist yet. */
export const hasLockFile = (target: string) => fs.existsSync(hiddenBeside(target, "lock"));

/** Follows symbolic links to the file that would be replaced, which may be missing. */
export function findFile(target: string): string {
  return naming(target, "write", () => followLinks(target));
}

function findReplaceable(target: string): string {
  const file = followLinks(target);
  fs.accessSync(dirname(file), fs.constants.W_OK);
  return file;
}

function followLinks(target: string): string {
  const isThere = fs.lstatSync(target, { throwIfNoEntry: false }) !== undefined;
  if (isThere) return asFile(fs.realpathSync(target), target);
  return join(fs.realpathSync(dirname(target)), basename(target));
}

/** On Windows, a program that has the old file open, such as a virus scanner, delays this. */
function renameWhenFree(from: string, to: string): Promise<void> {
  const isBusy = (error: unknown) =>
    process.platform === "win32" && /^E(?:PERM|ACCES|BUSY)$/.test(codeOf(error));
  return retryWhile(isBusy, () => rename(from, to), BUSY_MS);
}

const hiddenBeside = (file: string, ending: string) =>
  join(dirname(file), `.${basename(file)}.${ending}`);

/** Gives the new file the mode and, if this process is root, the owner of the old one. Flushes it. */
async function copyModeAndFlush(
  path: string,
  current: string,
  mode = 0o666 & ~process.umask(),
): Promise<void> {
  // Windows cannot flush a file that was opened only for reading, and the mode of the old file may
  // forbid writing.
  await using file = await open(path, "r+");
  const replaced = fs.statSync(current, { throwIfNoEntry: false });
  const { uid, gid } = await file.stat();
  // The unit for imports runs as root but forbids chown, even to the same owner.
  const isForeign = replaced && (replaced.uid !== uid || replaced.gid !== gid);
  if (isForeign && process.getuid?.() === 0) await file.chown(replaced.uid, replaced.gid);
  await file.chmod(replaced?.mode ?? mode);
  await file.sync();
}

/** Makes the renames in a folder durable. Windows cannot flush a folder. */
function flushFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = fs.openSync(path, "r");
  fs.fsyncSync(folder);
  fs.closeSync(folder);
}
