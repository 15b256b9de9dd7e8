/**
 * One writer at a time: a lock on a file beside the target that the system releases when its holder
 * dies, in whatever way. SQLite's own lock is used for it, as neither Bun nor Node has another.
 */
import { rmSync } from "node:fs";
import { sqlite } from "#sqlite";
import { codeOf } from "./errors.ts";

const MAX_TRIES = 100;

/**
 * A holder removes the file while it still has the lock, so who opened the file before that may lock
 * one that is no longer there. SQLite looks for just that before it writes to a file that is not
 * empty, and refuses; hence the two writes. Many at once also take each other's journal away, which
 * is an I/O error and as good a reason to try again. Nothing here must outlive a power cut, so nothing is
 * flushed: that took 10 ms.
 */
const HOLD = `
  PRAGMA busy_timeout = 0;
  PRAGMA synchronous = OFF;
  BEGIN EXCLUSIVE;
  PRAGMA user_version = 1;
  COMMIT;
  BEGIN EXCLUSIVE;
  PRAGMA user_version = 2;
`;

/**
 * Locks the file `path`, which must be nobody's but the lock's; returns how to release it, after
 * which the file is gone, or undefined when somebody else has it. Throws what SQLite throws.
 */
export function lock(path: string): (() => void) | undefined {
  for (let tries = 1; ; tries++) {
    const db = sqlite.openWritable(path);
    try {
      db.exec(HOLD);
      return () => {
        rmSync(path, { force: true });
        db.exec("ROLLBACK");
        db.close();
      };
    } catch (error) {
      db.close();
      const code = codeOf(error);
      if (code.startsWith("SQLITE_BUSY")) return undefined;
      if (!/READONLY|IOERR/.test(code) || tries === MAX_TRIES) throw error;
    }
  }
}
