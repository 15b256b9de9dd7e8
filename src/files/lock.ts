/**
 * One writer at a time: a lock on a file beside the target that the system releases when its holder
 * dies, in whatever way. SQLite's own lock is used for it, as neither Bun nor Node has another.
 */
import { chmodSync, chownSync, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { sqlite } from "#sqlite";
import { codeOf } from "./errors.ts";

/** Writes nothing, not even a journal beside the file: the transaction is never committed. */
const HOLD = "PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE";

/**
 * Locks the file `path`, which nothing else may use. Returns the function that releases it, or
 * undefined if another process holds it. The file stays, empty: if it were removed, a process that
 * has it open could lock a file that no other process finds. Throws errors of SQLite and the system.
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

/** Lets everybody who may replace the target take the lock, also after root was the first. */
function shareWithFolder(path: string): void {
  const { mode, uid, gid } = statSync(dirname(path));
  if (process.getuid?.() === 0) chownSync(path, uid, gid);
  chmodSync(path, mode & 0o666);
}
