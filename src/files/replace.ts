/** Replaces files atomically: a new file is written beside the old one, flushed, and renamed. */
import * as fs from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, naming } from "./errors.ts";
import { type LockOptions, lock, waitForLock } from "./lock.ts";
import { makeTemporaryFolder, removeLeftovers } from "./temporary-folder.ts";

/**
 * `old` may be missing but is no symbolic link. The others are empty: `next` becomes the new file
 * or, if it stays empty, `work`.
 */
export type Paths = Record<"next" | "work" | "old", string>;
type Write<T> = (paths: Paths) => Promise<T>;

/** How long to wait for other programs to close a file. */
const BUSY_MS = 5000;
const RETRY_MS = 50;

interface CommitOptions {
  /** The mode of a file that did not exist. Defaults to what the umask allows. */
  mode?: number;
  /** Called just before the rename. From then on, a command must not end as if it had failed. */
  onCommit?: (() => void) | undefined;
}

export interface ReplaceOptions extends LockOptions, CommitOptions {}

/**
 * Calls `write`, then moves the new file to `target` or, if that is a symbolic link, to the file it
 * leads to. The new file gets the mode of the old one and, if this process is root, its owner. If
 * the process is killed, the next call for a file in the same folder removes what is left.
 *
 * An error of the file system in `write` names the new file, so `write` must name all other files.
 */
export function replaceFile<T>(target: string, write: Write<T>, options: CommitOptions = {}) {
  return naming(target, "write", async () => {
    const old = findReplaceable(target);
    await removeLeftovers(dirname(old));
    using temporary = makeTemporaryFolder(dirname(old));
    return await replaceBy(join(temporary.folder, "new"), old, write, options);
  });
}

/** For one writer at a time, which removes what a killed one left, because the names are fixed. */
export function replaceLocked<T>(target: string, write: Write<T>, options: ReplaceOptions = {}) {
  return naming(target, "write", async () => {
    const old = findReplaceable(target);
    const lockFile = hiddenBeside(old, "lock");
    using _lock = await waitForLock(target, () => lock(lockFile), options);
    return await replaceBy(hiddenBeside(old, "new"), old, write, options);
  });
}

/** Whether the file is missing, and no other process can be making it. */
export function isMissing(target: string): boolean {
  const isThere = fs.lstatSync(target, { throwIfNoEntry: false }) !== undefined;
  return !isThere && !fs.existsSync(hiddenBeside(target, "lock"));
}

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
  const file = isThere
    ? fs.realpathSync(target)
    : join(fs.realpathSync(dirname(target)), basename(target));
  if (isThere && !fs.statSync(file).isFile()) throw new Error(`${target} is not a regular file`);
  return file;
}

async function replaceBy<T>(next: string, old: string, write: Write<T>, options: CommitOptions) {
  const work = `${next}.work`;
  // SQLite would apply the journal of a killed writer to the next writer's file.
  const own = [next, work, `${next}-journal`, `${work}-journal`];
  const discard = () => {
    for (const each of own) fs.rmSync(each, { force: true });
  };

  discard();
  // A signal ends the process in the middle of `write`.
  process.on("exit", discard);
  try {
    // Only the owner can read the new file until it has the permissions of the old one.
    for (const each of [next, work]) fs.writeFileSync(each, "", { flag: "wx", mode: 0o600 });
    const result = await write({ next, work, old });
    const made = fs.statSync(next).size > 0 ? next : work;
    await finishFile(made, old, options.mode);

    options.onCommit?.();
    // Asynchronous, because renaming also deletes the old file, which takes 0.2 s for a gigabyte.
    await renameWhenFree(made, old);
    flushFolder(dirname(old));
    return result;
  } finally {
    discard();
    process.off("exit", discard);
  }
}

/** On Windows, a program that has the old file open, such as a virus scanner, delays this. */
async function renameWhenFree(from: string, to: string): Promise<void> {
  const endMs = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return await rename(from, to);
    } catch (error) {
      const isBusy = process.platform === "win32" && /^E(?:PERM|ACCES|BUSY)$/.test(codeOf(error));
      if (!isBusy || performance.now() > endMs) throw error;
    }
    await sleep(RETRY_MS);
  }
}

const hiddenBeside = (file: string, ending: string) =>
  join(dirname(file), `.${basename(file)}.${ending}`);

/** Gives the new file the mode and, if this process is root, the owner of the old one. Flushes it. */
async function finishFile(
  path: string,
  old: string,
  mode = 0o666 & ~process.umask(),
): Promise<void> {
  // Windows cannot flush a file that was opened only for reading, and the mode of the old file may
  // forbid writing.
  await using file = await open(path, "r+");
  const replaced = fs.statSync(old, { throwIfNoEntry: false });
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
