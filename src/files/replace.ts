/**
 * Replaces a file atomically: the new file is written beside the old one, flushed to disk, and
 * then renamed. If the process is killed, the old file stays intact.
 */
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  fstatSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { codeOf, isFileSystemError, reasonOf } from "./errors.ts";
import { lock } from "./lock.ts";

/** The paths for writing a new file. */
interface Paths {
  /** An empty file, which becomes the new file. */
  path: string;
  /** An empty file for any other use, which is deleted afterwards. */
  work: string;
  /** The file to replace, which may be missing. Symbolic links have been followed. */
  old: string;
}

/**
 * Calls `write` to write a new file, then moves this file to `target` and gives it the permissions
 * of the old file. If `target` is a symbolic link, the file at the end of the link is replaced. If
 * `write` throws, `target` is untouched. The message of a file system error is a single line that
 * names `target`.
 */
export function replaceFile<T>(target: string, write: (paths: Paths) => Promise<T>): Promise<T> {
  return namingErrors(target, () => {
    const file = findReplaceable(target);
    return replaceBy(hiddenBeside(file, `${process.pid}.new`), file, write);
  });
}

/**
 * Like {@link replaceFile}, but for only one writer at a time. The temporary files have the same
 * names each time, so the next writer removes those of a writer that was killed. Throws if another
 * process is writing `target`.
 */
export function replaceLocked<T>(target: string, write: (paths: Paths) => Promise<T>): Promise<T> {
  return namingErrors(target, async () => {
    const file = findReplaceable(target);
    const release = lock(hiddenBeside(file, "lock"));
    if (!release) throw new Error(`another command is currently writing ${target}`);
    try {
      return await replaceBy(hiddenBeside(file, "new"), file, write);
    } finally {
      release();
    }
  });
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

/**
 * Returns the path of the file to replace. The file need not exist, but its folder must be
 * writable.
 */
export function findReplaceable(target: string): string {
  const file = followLinks(target);
  const old = statSync(file, { throwIfNoEntry: false });
  if (old && !old.isFile()) throw new Error(`${target} is not a regular file`);
  accessSync(dirname(file), constants.W_OK);
  return file;
}

async function replaceBy<T>(
  path: string,
  old: string,
  write: (paths: Paths) => Promise<T>,
): Promise<T> {
  const work = `${path}.work`;
  const discard = () => {
    for (const each of [path, work]) rmSync(each, { force: true });
  };
  discard();
  // A signal ends the process in the middle of `write`.
  process.on("exit", discard);
  try {
    // Only the owner can read the new file until it has the permissions of the old one.
    for (const each of [path, work]) writeFileSync(each, "", { flag: "wx", mode: 0o600 });
    const result = await write({ path, work, old });
    keepPermissions(old, path);
    await sync(path);
    // Asynchronous, because renaming also deletes the old file, which takes 0.2 s for a gigabyte.
    await rename(path, old);
    await sync(dirname(old));
    return result;
  } finally {
    discard();
    process.off("exit", discard);
  }
}

function hiddenBeside(file: string, ending: string): string {
  return join(dirname(file), `.${basename(file)}.${ending}`);
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
 * Copies the old file's mode to the new file. If this process is root, also copies the owner. If
 * there is no old file, the new one gets the usual mode.
 */
function keepPermissions(from: string, to: string): void {
  const old = statSync(from, { throwIfNoEntry: false });
  if (old && process.getuid?.() === 0) chownSync(to, old.uid, old.gid);
  chmodSync(to, old?.mode ?? 0o666 & ~process.umask());
}

async function sync(path: string): Promise<void> {
  await using file = await open(path);
  await file.sync();
}
