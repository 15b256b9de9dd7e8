/**
 * Puts a new file in the place of an old one, whole or not at all: written beside it, flushed to
 * disk, renamed. Whoever is killed half way leaves the old file as it was; what else is left is
 * swept by the next who writes that file, and there is one of those at a time.
 */
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf, reasonOf } from "./errors.ts";
import { LockedError, lock } from "./lock.ts";

/**
 * Has `write` make the file at the path it is given, then moves that file to `target`, where it has
 * the permissions of the one before. When `write` throws, `target` is untouched and nothing is left
 * beside it. Errors of the file system are told in one line that names `target`.
 */
export async function replaceFile<T>(
  target: string,
  write: (path: string) => Promise<T>,
): Promise<T> {
  try {
    const old = findFile(target);
    // Through a symbolic link the file it leads to is replaced, not the link.
    const path = old ? realpathSync(target) : target;
    accessSync(dirname(path), constants.W_OK);
    return await replaceLocked(path, old, write);
  } catch (error) {
    if (error instanceof LockedError) {
      throw new Error(`another command is writing ${target} at this moment`);
    }
    if (!isFileSystemError(error)) throw error;
    throw new Error(`cannot write ${target}: ${reasonOf(error)}`);
  }
}

async function replaceLocked<T>(
  target: string,
  old: Stats | undefined,
  write: (path: string) => Promise<T>,
): Promise<T> {
  const beside = (suffix: string) => join(dirname(target), `.${basename(target)}.${suffix}`);
  const release = lock(beside("lock"));
  const path = beside("new");
  try {
    rmSync(path, { force: true });
    const result = await write(path);
    if (old) keepPermissions(path, old);
    sync(path);
    renameSync(path, target);
    sync(dirname(target));
    return result;
  } finally {
    rmSync(path, { force: true });
    release();
  }
}

function findFile(path: string): Stats | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) throw new Error(`${path} is not a file that can be replaced`);
  return stats;
}

/** Who may read the old file may read the new one. The owner is root's to give. */
function keepPermissions(path: string, { mode, uid, gid }: Stats): void {
  if (process.getuid?.() === 0) chownSync(path, uid, gid);
  chmodSync(path, mode);
}

function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** SQLite's errors for what the system refused it, and the system's own. */
function isFileSystemError(error: unknown): boolean {
  return /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY|PERM)|E[A-Z]+$)/.test(codeOf(error));
}
