/**
 * Makes folders for temporary files on disk. A killed process cannot remove its folder, so the next
 * process that makes one in the same place does, unless a lock shows that it is still in use.
 */
import { constants, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { copyFile, lstat, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { lock } from "./lock.ts";

/** Unlike /tmp, /var/tmp is never in memory. */
export const TEMPORARY = existsSync("/var/tmp") ? "/var/tmp" : tmpdir();
/** A folder holds these two. The lock is taken first, so a folder with both has been locked. */
const LOCK = "in-use-by-roadbook";
const FILES = "files";

/** Makes a folder that only this user can open. It is removed at exit, if not before. */
export function makeTemporaryFolder(parent = TEMPORARY) {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  // Not awaited, because removing files must not delay a start.
  void removeLeftovers(parent);
  const outer = mkdtempSync(join(parent, "roadbook-"));
  const folder = join(outer, FILES);
  const held = lockIfPossible(join(outer, LOCK));
  const remove = () => {
    process.off("exit", remove);
    try {
      for (const each of [folder, outer]) rmSync(each, { recursive: true, force: true });
    } catch {
      // The next start removes it.
    }
    held?.[Symbol.dispose]();
  };
  process.on("exit", remove);
  try {
    mkdirSync(folder);
  } catch (error) {
    // On a disk that is full, an empty folder would take what others free.
    remove();
    throw error;
  }
  return { folder, [Symbol.dispose]: remove };
}

function lockIfPossible(path: string): Disposable | undefined {
  try {
    return lock(path);
  } catch {
    // This file system has no locks, so nobody can take the folder for a leftover.
    return undefined;
  }
}

/** Copies a file of `bytes` and needs no space for it if the file system can share its blocks. */
export async function copyIfSpace(from: string, to: string, bytes: number): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE).catch(async () => {
    await requireSpace(dirname(to), bytes);
    await copyFile(from, to);
  });
}

/** Throws, as writing would, if a file of `bytes` does not fit on the disk of `folder`. */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(folder);
  // Some network file systems do not report their size.
  if (blocks === 0 || bavail * bsize >= bytes) return;
  const reason = `no space left on device (${Math.floor((bavail * bsize) / 1e6)} MB are free)`;
  throw Object.assign(new Error(reason), { code: "ENOSPC" });
}

/** Removes this user's folders in `parent` whose processes were killed. */
export async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    // If this fails, the folder stays for the next start. Another process may be removing it.
    if (/^roadbook-\w{6}$/.test(name)) await removeUnused(join(parent, name)).catch(() => {});
  }
}

async function removeUnused(folder: string): Promise<void> {
  const stats = await lstat(folder);
  if (!stats.isDirectory() || stats.uid !== (process.geteuid?.() ?? stats.uid)) return;
  // Without FILES, it has no data and may be one that is being made.
  if ((await readdir(folder)).sort().join() !== `${FILES},${LOCK}`) return;
  using held = lock(join(folder, LOCK));
  if (!held) return;
  // In this order, so that a folder whose files are removed only in part is still recognized.
  for (const each of [join(folder, FILES), folder]) await rm(each, { recursive: true });
}
