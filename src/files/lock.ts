/**
 * A lock that allows one writer at a time. The operating system releases the lock when its holder
 * dies for any reason. Uses SQLite's file locks, because neither Bun nor Node has an API for file
 * locks.
 */
import { chmodSync, existsSync, lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { sqlite } from "#sqlite";
import { codeOf, isFileSystemError } from "./errors.ts";

/**
 * Takes an exclusive lock but writes nothing, not even a journal file, because the transaction is
 * never committed.
 */
const HOLD = "PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE";

/**
 * Locks the file at `path`, which must have no other use. Returns a function that releases the
 * lock, or undefined if another process holds the lock. The empty file is never deleted, because a
 * process that still has the deleted file open could lock it while another process locks a new
 * file. Throws SQLite errors and system errors.
 */
export function lock(path: string): (() => void) | undefined {
  // A link could make root create a file anywhere.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Error(`${path} must not be a symbolic link`);
  }
  const isNew = !existsSync(path);
  const { $client } = sqlite.openWritable(path);
  try {
    // Lets every user who may write to the folder use the lock file.
    if (isNew) chmodSync(path, statSync(dirname(path)).mode & 0o666);
    $client.exec(HOLD);
    return () => $client.close();
  } catch (error) {
    $client.close();
    if (codeOf(error).startsWith("SQLITE_BUSY")) return undefined;
    if (isFileSystemError(error)) throw error;
    throw new Error(`${path} is not a lock file of Roadbook; if you do not need it, remove it`);
  }
}
