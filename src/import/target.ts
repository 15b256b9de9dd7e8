/**
 * Begins to write a database, or a copy of a snapshot, and seals it when its rows, name indexes and
 * metadata are complete. Nothing needs to be durable before that, because the database is discarded
 * after a crash.
 */
import { access, chmod, constants, stat } from "node:fs/promises";
import { sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import { copyIfSpace } from "../files/bytes.ts";
import { hasLockFile, type Paths, type ReplaceOptions, replaceFile } from "../files/replace.ts";
import { toSnapshotError } from "../snapshot/format/layout.ts";
import { verifyFile } from "../snapshot/format/open.ts";
import { SQLITE_PAGE_BYTES, sealBytes, sealFile } from "../snapshot/format/seal.ts";
import type { Database } from "../sqlite/driver.ts";

/**
 * Calls `change` with a copy of the snapshot file `target`, to which the old one is attached as `old`.
 * Then the copy replaces the snapshot. Adds its checksum to the result of `change`. An intact snapshot
 * that cannot be copied is an error of the new file.
 *
 * The copy keeps its free pages, so that replicas need only the blocks that have changed. The next import
 * leaves them behind.
 */
export async function changeCopy<T>(
  target: string,
  options: ReplaceOptions,
  change: (db: Database) => Promise<T>,
): Promise<T & { sha256: string }> {
  const rethrow = (error: unknown) => {
    throw toSnapshotError(target, error);
  };
  // Refuses a mistyped name before a lock file is made, which would stay. Where there is one, a first
  // import may be running, for which this waits.
  await access(target).catch((error) => hasLockFile(target) || rethrow(error));

  const write = async ({ current, next }: Paths) => {
    await access(current, constants.R_OK).catch(rethrow);
    await copyIfSpace(current, next, (await stat(current)).size);
    // The copy has the mode of the original, which may forbid writing.
    await chmod(next, 0o600);
    // Verifies the copy rather than the original, which may have changed since it was copied.
    await verifyFile(next).catch(rethrow);
    const db = sqlite.openWritable(next);
    using _open = beginWriting(db, current);
    const result = await change(db);
    db.$client.exec("COMMIT");
    return { ...result, sha256: await closeAndSeal(db, next) };
  };
  return replaceFile(target, write, options);
}

/**
 * Begins the only transaction of a database, which is committed when it is complete. The snapshot at
 * `oldPath` is attached as `old`. The database is closed when the result is disposed of, if not before,
 * and if this fails.
 */
export function beginWriting(db: Database, oldPath?: string): Disposable {
  const { $client } = db;
  try {
    // A killed process must not leave a journal file, which SQLite would later apply to another
    // database. Without any journal, a statement that fails would leave its first changes.
    $client.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
      PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; PRAGMA page_size = ${SQLITE_PAGE_BYTES}`);
    // Overwrites with zeros whatever is deleted.
    $client.exec("PRAGMA secure_delete = ON");
    if (oldPath !== undefined) db.run(sql`ATTACH ${oldPath} AS old`);
    $client.exec("BEGIN");
  } catch (error) {
    $client.close();
    throw error;
  }
  return { [Symbol.dispose]: () => $client.close() };
}

/** `what` is the kind of file that the command writes, such as "a Roadbook snapshot". */
export function notOverwritten(target: string, what: string): string {
  return `${target} exists and is not ${what}; choose another --to, or overwrite it with --force`;
}

/** Makes a new database the snapshot `next`, and closes it. Returns the checksum. */
export async function sealNew(db: Database, next: string): Promise<string> {
  db.$client.exec("COMMIT");
  // Copies rows, not pages, so free pages are left behind.
  db.run(sql`VACUUM INTO ${next}`);
  return await closeAndSeal(db, next);
}

/** Returns a database in memory as a snapshot. */
export function sealInMemory(db: Database): Uint8Array {
  db.$client.exec("COMMIT");
  return sealBytes(db.$client.serialize());
}

/** Closes a database, and seals the file at `path`, its own or a copy. Returns the checksum. */
async function closeAndSeal(db: Database, path: string): Promise<string> {
  db.$client.close();
  await sealFile(path);
  return await verifyFile(path);
}
