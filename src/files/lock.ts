/**
 * A lock that allows one writer at a time, and that the system releases when its holder dies for
 * any reason. Uses the file locks of SQLite, because neither Bun nor Node has any.
 */
import { chmodSync, chownSync, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { sqlite } from "#sqlite";
import { codeOf } from "./errors.ts";

/** Writes nothing, not even a journal file, because the transaction is never committed. */
const HOLD = "PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE";

/**
 * Locks the file `path`, which must have no other use. Returns the function that releases the lock,
 * or undefined if another process holds it. The empty file stays: if it were removed, a process
 * that has it open could lock a file that no other process can find. Throws errors of SQLite and
 * the system.
 */
export function lock(path: string): (() => void) | undefined {
  const isNew = !existsSync(path);
  const db = sqlite.openConnection(path);
  try {
    if (isNew) shareWithFolder(path);
    db.exec(HOLD);
    return () => db.close();
  } catch (error) {
    db.close();
    if (codeOf(error).startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
}

/** Gives every user who may replace the target access to the lock, even if root created it. */
function shareWithFolder(path: string): void {
  const { mode, uid, gid } = statSync(dirname(path));
  if (process.getuid?.() === 0) chownSync(path, uid, gid);
  chmodSync(path, mode & 0o666);
}
