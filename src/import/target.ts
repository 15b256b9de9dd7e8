/**
 * The target of an import, a change file or a takedown. All read the snapshot that is there, begin to write
 * a new database or a copy of that snapshot, and seal it when its rows, name indexes and metadata are
 * complete. Nothing needs to be durable before that, because the database is discarded after a crash.
 */
import { existsSync } from "node:fs";
import { access, chmod, constants, stat } from "node:fs/promises";
import { sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import { copyIfSpace } from "../files/bytes.ts";
import type { LockOptions } from "../files/lock.ts";
import { findFile, hasLockFile, type Paths, replaceFile } from "../files/replace.ts";
import { isSnapshot, SnapshotError, toSnapshotError } from "../snapshot/format/layout.ts";
import { type Meta, readMeta } from "../snapshot/format/meta.ts";
import { openInPlace, verifyFile } from "../snapshot/format/open.ts";
import { takedown } from "../snapshot/format/schema.ts";
import { SQLITE_PAGE_BYTES, sealBytes, sealFile } from "../snapshot/format/seal.ts";
import type { Database } from "../sqlite/driver.ts";
import { type Hold, whereHeld } from "./takedowns.ts";

/** The options of all that write a snapshot. */
export interface WriteOptions extends LockOptions {
  /** The file that maps ids of any kind to integers. Without it, ids must be integers. */
  idMap?: string | undefined;
  /**
   * The time of the build, which dates takedowns, ends holds and shows what is in the future. Defaults
   * to now.
   */
  builtAtMs?: number | undefined;
  /** Called just before the target is replaced. From then on, a command must not end as if it had failed. */
  onCommit?: (() => void) | undefined;
}

/** Whether and how an import keeps to the snapshot that it replaces. */
export interface OldOptions {
  /**
   * Whether to overwrite a file that is not an intact snapshot, or a snapshot whose ids belong to others,
   * and to take ids that look rounded.
   */
  force?: boolean | undefined;
  /** How long to keep to a takedown by `apply` or `hide`. Defaults to an hour, the maximum. */
  holdMs?: number | undefined;
}

/** The snapshot that will be replaced. */
export interface OldSnapshot extends Meta {
  /** The path as the command was given it, for messages. */
  name: string;
  /** Whether it has takedowns that are held. */
  hasTakedowns: boolean;
}

/** An import also needs its file, whose rows it compares with the new ones. */
interface OldFile extends OldSnapshot {
  /** Where it is, without symbolic links. */
  path: string;
}

/**
 * Reads the snapshot at `name`, if there is one. Throws if the file is something else or is damaged,
 * because an import could then undo takedowns. With `force`, such a file is treated as missing.
 */
export async function readOldFile(
  name: string,
  nowMs: number,
  { force, holdMs }: OldOptions,
): Promise<OldFile | undefined> {
  const path = findFile(name);
  if (!existsSync(path)) return undefined;
  if (!isSnapshot(path)) {
    if (force) return undefined;
    throw new Error(notOverwritten(name, "a Roadbook snapshot"));
  }

  try {
    using opened = await openInPlace(path);
    return { ...readOld(opened.db, name, { nowMs, holdMs }), path };
  } catch (error) {
    const named = toSnapshotError(name, error);
    if (!(named instanceof SnapshotError)) throw named;
    if (force) return undefined;
    const advice = "restore it, or import with --force, which forgets its takedowns";
    throw new Error(`${named.message}; ${advice}`);
  }
}

/** `what` is the kind of file that the command writes, such as "a Roadbook snapshot". */
export function notOverwritten(target: string, what: string): string {
  return `${target} exists and is not ${what}; choose another --to, or overwrite it with --force`;
}

/** Reads the facts of a snapshot that an import needs before it replaces it. */
export function readOld(db: Database, name: string, hold: Hold): OldSnapshot {
  const held = db.select().from(takedown).where(whereHeld(hold)).get();
  return { ...readMeta(db), name, hasTakedowns: held !== undefined };
}

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
  options: WriteOptions,
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
