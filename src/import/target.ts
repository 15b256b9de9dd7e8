/**
 * Begins to write a database, or a copy of a snapshot, and makes it a snapshot when its rows, name
 * indexes and metadata are complete. Nothing needs to be durable before that, because the database is
 * discarded after a crash.
 *
 * SQLite and FTS5 overwrite deleted data with zeros (`secure_delete` here and in search/name-index.ts),
 * but SQLite leaves copies of moved rows in the unused space of a page. FTS5 may keep up to three letters
 * as the border between two pages of an index. The id and the time of a takedown stay for an hour
 * (takedowns.ts).
 */
import { access, chmod, constants, open, stat } from "node:fs/promises";
import { sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import { copyIfSpace, crc32, createSha256, readChunks, writeAll } from "../files/bytes.ts";
import { hasLockFile, type Paths, type ReplaceOptions, replaceFile } from "../files/replace.ts";
import {
  BLOCK_BYTES,
  checksumLine,
  HEADER_BYTES,
  hashBytesOf,
  parseHeader,
  readHeader,
  toSnapshotError,
} from "../snapshot/format/layout.ts";
import { verifyFile } from "../snapshot/format/open.ts";
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
  const fail = (error: unknown) => {
    throw toSnapshotError(target, error);
  };
  // Refuses a mistyped name before a lock file is made, which would stay. Where there is one, a first
  // import may be running, for which this waits.
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
    const result = await change(db);
    db.$client.exec("COMMIT");
    db.$client.close();
    await sealFile(next);
    return { ...result, sha256: await verifyFile(next) };
  };
  return replaceFile(target, write, options);
}

/**
 * Begins the only transaction of a database, which is committed when it is complete. The snapshot at the
 * path `old` is attached as `old`. The database is closed when the result is disposed of, if not before.
 */
export function beginWriting(db: Database, old?: string): Disposable {
  const { $client } = db;
  // A killed process must not leave a journal file, which SQLite would later apply to another
  // database. Without any journal, a statement that fails would leave its first changes.
  $client.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
    PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; PRAGMA page_size = ${SQLITE_PAGE_BYTES}`);
  // Overwrites with zeros whatever is deleted.
  $client.exec("PRAGMA secure_delete = ON");
  if (old !== undefined) db.run(sql`ATTACH ${old} AS old`);
  $client.exec("BEGIN");
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
  db.$client.close();
  await sealFile(next);
  return await verifyFile(next);
}

/** Returns a database in memory as a snapshot. */
export function sealInMemory(db: Database): Uint8Array {
  db.$client.exec("COMMIT");
  const database = db.$client.serialize();
  const sealer = createSealer();
  sealer.add(database);
  return Buffer.concat([database, sealer.trailer()]);
}

/** Replaces the trailer of a file that nothing else has open, if it has one. */
export async function sealFile(path: string): Promise<void> {
  await using file = await open(path, "r+");
  const { databaseBytes } = parseHeader(await readHeader(file));
  const sealer = createSealer();
  let at = 0;
  for await (const chunk of readChunks(file, 0, databaseBytes, BLOCK_BYTES)) {
    if (sealer.add(chunk)) await writeAll(file, chunk, at);
    at += chunk.length;
  }

  const trailer = sealer.trailer();
  await writeAll(file, trailer, databaseBytes);
  await file.truncate(databaseBytes + trailer.length);
}

/** Takes a database in chunks of whole blocks. */
function createSealer() {
  const hash = createSha256();
  const blocks: Buffer[] = [];
  return {
    /** Clears the unused space of the next chunk. Returns whether this has changed it. */
    add(chunk: Uint8Array): boolean {
      const hasChanged = clearUnused(chunk, blocks.length === 0);
      hash.update(chunk);
      blocks.push(hashBlocks(chunk));
      return hasChanged;
    },
    /** Returns the trailer, after the last chunk. */
    trailer(): Buffer {
      const hashes = Buffer.concat(blocks);
      return Buffer.concat([hashes, checksumLine(hash.update(hashes).digest("hex"))]);
    },
  };
}

function hashBlocks(bytes: Uint8Array): Buffer {
  const hashes = Buffer.alloc(hashBytesOf(bytes.length));
  let end = 0;
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    end = hashes.writeUInt32BE(crc32(bytes.subarray(at, at + BLOCK_BYTES)), end);
  }
  return hashes;
}

/** The size of the pages of every snapshot, which is SQLite's default. */
const SQLITE_PAGE_BYTES = 4096;
/** The types of B-tree pages, and the lengths of their headers. */
const btreeHeaders: Record<number, number> = { 2: 12, 5: 12, 10: 8, 13: 8 };
const zeros = Buffer.alloc(SQLITE_PAGE_BYTES);

/**
 * Fills the space between the cell pointers and the cells of each B-tree page with zeros. The first
 * pages of a file begin with its header. Returns whether anything has changed.
 */
export function clearUnused(pages: Uint8Array, isFirst: boolean): boolean {
  let hasChanged = false;
  for (let at = 0; at < pages.length; at += SQLITE_PAGE_BYTES) {
    const page = Buffer.from(pages.buffer, pages.byteOffset + at, SQLITE_PAGE_BYTES);
    const start = isFirst && at === 0 ? HEADER_BYTES : 0;
    // An overflow or free page begins with a page number, whose first byte is 0 in any file that
    // is smaller than 64 GB.
    const headerBytes = btreeHeaders[page[start] ?? 0];
    if (headerBytes === undefined) continue;
    const cells = page.readUInt16BE(start + 3);
    const unused = page.subarray(start + headerBytes + 2 * cells, page.readUInt16BE(start + 5));
    if (unused.equals(zeros.subarray(0, unused.length))) continue;
    unused.fill(0);
    hasChanged = true;
  }
  return hasChanged;
}
