/**
 * Owns the database of a snapshot that is being written, and the order in which it is finished.
 * Nothing needs to be durable before that, because the database is discarded after a crash. Also reads
 * what a command must know of the snapshot that it replaces.
 */
import { existsSync } from "node:fs";
import { access, chmod, constants, copyFile, stat } from "node:fs/promises";
import { sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import { formatTime } from "../domain/time.ts";
import { version } from "../domain/version.ts";
import { copyIfSpace } from "../files/bytes.ts";
import {
  findFile,
  hasLockFile,
  type Paths,
  type ReplaceOptions,
  replaceLocked,
} from "../files/replace.ts";
import { isSnapshot, SnapshotError, toSnapshotError } from "../snapshot/format/layout.ts";
import { type Meta, readMeta, writeMeta } from "../snapshot/format/meta.ts";
import { checkSnapshot, openInPlace, verifyFile } from "../snapshot/format/open.ts";
import { createSchema } from "../snapshot/format/schema.ts";
import { SQLITE_PAGE_BYTES, sealBytes, sealFile } from "../snapshot/format/seal.ts";
import type { Database } from "../sqlite/driver.ts";
import type { ImportOptions } from "./options.ts";
import { hasTakedowns } from "./takedowns.ts";

/** If fewer pages are free, a change leaves the other blocks as they are. */
const MAX_FREE_SHARE = 1 / 8;

/** The snapshot that will be replaced. */
export interface OldSnapshot extends Meta {
  /** The path as the command was given it, for messages. */
  name: string;
  /** Whether the takedowns in it are held. */
  hasTakedowns: boolean;
  /** The file; undefined for one that has been opened already. */
  path?: string;
}

interface WriterOptions {
  builtAtMs: number;
  /** Whether the database is empty, and not a copy of the old snapshot. */
  isNew: boolean;
  /** The file of the old snapshot, which is attached as `old`. */
  old?: string | undefined;
}

/** The metadata, except for when and by which version of Roadbook the snapshot is written. */
type Contents = Omit<Meta, "built_at" | "roadbook_version">;

export type SnapshotWriter = ReturnType<typeof createSnapshotWriter>;

export function createSnapshotWriter(db: Database, { builtAtMs, isNew, old }: WriterOptions) {
  const { $client } = db;
  let isOpen = true;
  // A killed process must not leave a journal file, which SQLite would later apply to another
  // database. Without any journal, a statement that fails would leave its first changes.
  $client.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
    PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; PRAGMA page_size = ${SQLITE_PAGE_BYTES}`);
  // Overwrites with zeros whatever is deleted; see seal.ts.
  $client.exec("PRAGMA secure_delete = ON");
  if (old !== undefined) db.run(sql`ATTACH ${old} AS old`);
  $client.exec("BEGIN");
  if (isNew) createSchema($client);

  function close(): void {
    if (isOpen) $client.close();
    isOpen = false;
  }

  function hasManyFreePages(): boolean {
    const [row] = db.values<[isMany: number]>(
      `SELECT freelist_count > page_count * ${MAX_FREE_SHARE}
        FROM pragma_freelist_count, pragma_page_count`,
    );
    return row?.[0] === 1;
  }

  function finish({ counts, unlocked, featured, id_map }: Contents): void {
    const built_at = formatTime(Math.floor(builtAtMs / 1000));
    writeMeta(db, { built_at, roadbook_version: version, counts, unlocked, featured, id_map });
    $client.exec("COMMIT");
  }

  return {
    /** In a transaction until it is finished. */
    db,
    builtAtMs,

    /**
     * Makes the database, whose rows and indexes are complete, the snapshot `next`, and returns the
     * checksum. If the database is a copy of the old snapshot, it is that file already.
     */
    async toFile(next: string, contents: Contents): Promise<string> {
      finish(contents);
      // Copies rows, not pages, so free pages are left behind.
      const compact = isNew ? next : `${next}.compact`;
      if (isNew || hasManyFreePages()) db.run(sql`VACUUM INTO ${compact}`);
      close();
      if (!isNew && existsSync(compact)) await copyFile(compact, next);

      const sha256 = await sealFile(next);
      // Detects bugs in how a snapshot is built. A takedown does not wait for SQLite's own checks.
      await (isNew ? checkSnapshot(next) : verifyFile(next));
      return sha256;
    },

    /** Returns the database, which is in memory and whose rows and indexes are complete, as a snapshot. */
    toBytes(contents: Contents): Uint8Array {
      finish(contents);
      if (hasManyFreePages()) $client.exec("VACUUM");
      return sealBytes($client.serialize());
    },

    [Symbol.dispose]: close,
  };
}

/** Calls `change` to change a copy of the snapshot file `target`, with which it replaces `target`. */
export async function replaceByCopy<T>(
  target: string,
  options: ReplaceOptions & { builtAtMs?: number | undefined },
  change: (writer: SnapshotWriter, old: OldSnapshot, next: string) => Promise<T>,
): Promise<T> {
  const { builtAtMs = Date.now() } = options;
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
    using writer = createSnapshotWriter(db, { builtAtMs, isNew: false, old });
    return await change(writer, describeSnapshot(db, target, builtAtMs), next);
  };
  return await replaceLocked(target, write, options);
}

/**
 * Reads the snapshot at `name`, if there is one. Throws if the file is something else or is damaged,
 * because an import could then undo takedowns. With `force`, such a file is treated as missing.
 */
export async function readOldSnapshot(
  name: string,
  nowMs: number,
  { force, holdMs }: ImportOptions,
): Promise<OldSnapshot | undefined> {
  const path = findFile(name);
  if (!existsSync(path)) return undefined;
  if (!isSnapshot(path)) {
    if (force) return undefined;
    throw new Error(notOverwritten(name, "a Roadbook snapshot"));
  }

  try {
    const { db } = await openInPlace(path);
    try {
      return { ...describeSnapshot(db, name, nowMs, holdMs), path };
    } finally {
      db.$client.close();
    }
  } catch (error) {
    const named = toSnapshotError(name, error);
    if (!(named instanceof SnapshotError)) throw named;
    if (force) return undefined;
    const advice = "restore it, or import with --force, which forgets its takedowns";
    throw new Error(`${named.message}; ${advice}`);
  }
}

/** Describes a snapshot, whose bytes have been verified, before anything in it is changed. */
export function describeSnapshot(
  db: Database,
  name: string,
  nowMs: number,
  holdMs?: number,
): OldSnapshot {
  return { ...readMeta(db), name, hasTakedowns: hasTakedowns(db, { nowMs, holdMs }) };
}

/** `what` is the kind of file that the command writes, such as "a Roadbook snapshot". */
export function notOverwritten(target: string, what: string): string {
  return `${target} exists and is not ${what}; choose another --to, or overwrite it with --force`;
}
