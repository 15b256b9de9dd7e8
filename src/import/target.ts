/**
 * Has a command change a copy of a snapshot file, and begins to write a database. Nothing needs
 * to be durable before the new snapshot is complete, because the database is discarded after a crash.
 */
import { access, chmod, constants, stat } from "node:fs/promises";
import { sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import { copyIfSpace } from "../files/bytes.ts";
import { hasLockFile, type Paths, type ReplaceOptions, replaceFile } from "../files/replace.ts";
import { toSnapshotError } from "../snapshot/format/layout.ts";
import type { Meta } from "../snapshot/format/meta.ts";
import { verifyFile } from "../snapshot/format/open.ts";
import { SQLITE_PAGE_BYTES } from "../snapshot/format/seal.ts";
import type { Database } from "../sqlite/driver.ts";

/** The snapshot that will be replaced. */
export interface OldSnapshot extends Meta {
  /** The path as the command was given it, for messages. */
  name: string;
  /** Whether the takedowns in it are held. Undefined if the new snapshot is not compared with it. */
  hasTakedowns?: boolean;
}

/** The snapshot with which the new one is compared. */
export type ComparedSnapshot = OldSnapshot & { hasTakedowns: boolean };

/**
 * Calls `change` with a copy of the snapshot file `target`, to which the old one is attached as `old`.
 * Then the copy, which `change` must seal in the file `next`, replaces the snapshot. An intact snapshot
 * that cannot be copied is an error of the new file.
 */
export async function changeCopy<T>(
  target: string,
  options: ReplaceOptions,
  change: (db: Database, next: string) => Promise<T>,
): Promise<T> {
  const fail = (error: unknown) => {
    throw toSnapshotError(target, error);
  };
  // The lock file beside a name that was mistyped would stay. A first import may have one, too.
  await access(target).catch((error) => hasLockFile(target) || fail(error));

  const write = async ({ old, next }: Paths) => {
    await access(old, constants.R_OK).catch(fail);
    await copyIfSpace(old, next, (await stat(old)).size);
    // The copy has the mode of the original, which may forbid writing.
    await chmod(next, 0o600);
    // Verifies the copy rather than the original, which may have changed since it was copied.
    await verifyFile(next).catch(fail);
    const db = sqlite.openWritable(next);
    using _open = beginWriting(db, old);
    return await change(db, next);
  };
  return replaceFile(target, write, options);
}

/**
 * Begins the only transaction of a database, which seal.ts commits. The snapshot at the path `old` is
 * attached as `old`. The database is closed when the result is disposed of, if not before.
 */
export function beginWriting(db: Database, old?: string): Disposable {
  const { $client } = db;
  // A killed process must not leave a journal file, which SQLite would later apply to another
  // database. Without any journal, a statement that fails would leave its first changes.
  $client.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
    PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; PRAGMA page_size = ${SQLITE_PAGE_BYTES}`);
  // Overwrites with zeros whatever is deleted; see seal.ts.
  $client.exec("PRAGMA secure_delete = ON");
  if (old !== undefined) db.run(sql`ATTACH ${old} AS old`);
  $client.exec("BEGIN");
  return { [Symbol.dispose]: () => $client.close() };
}

/** `what` is the kind of file that the command writes, such as "a Roadbook snapshot". */
export function notOverwritten(target: string, what: string): string {
  return `${target} exists and is not ${what}; choose another --to, or overwrite it with --force`;
}
