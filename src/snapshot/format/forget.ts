/**
 * Forgets what a change has removed from a snapshot, so that no byte of the file shows it. The
 * writer of a snapshot calls this once, when the rows and the name indexes are complete.
 *
 * SQLite and FTS5 overwrite deleted data with zeros (`secure_delete` in src/import/snapshot-writer.ts and
 * search/name-index.ts). This removes the copies that both leave. The id and the time of a takedown stay
 * for an hour (src/import/takedowns.ts).
 */
import { open } from "node:fs/promises";
import { sqlite } from "#sqlite";
import { type NameKind, nameKinds } from "../../domain/model.ts";
import { readChunks } from "../../files/read-chunks.ts";
import { writeAll } from "../../files/write-all.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { HEADER_BYTES, parseSizes, readHeader } from "./layout.ts";

/** Changes a file that nothing else has open. */
export async function forgetDeleted(path: string): Promise<void> {
  const { $client: db } = sqlite.openWritable(path);
  try {
    forgetTerms(db);
  } finally {
    db.close();
  }

  await using file = await open(path, "r+");
  const { databaseBytes, pageBytes } = parseSizes(await readHeader(file));
  requirePageBytes(pageBytes);
  let at = 0;
  for await (const pages of readChunks(file, 0, databaseBytes, pageBytes)) {
    const hasChanged = clearUnused(pages, at === 0 ? HEADER_BYTES : 0);
    if (hasChanged) await writeAll(file, pages, at);
    at += pages.length;
  }
}

/** Like {@link forgetDeleted}, for the bytes of a database. Returns the bytes of another. */
export function forgetDeletedIn(database: Uint8Array): Uint8Array {
  const { $client: db } = sqlite.openMemory(database);
  try {
    forgetTerms(db);
    const pages = db.serialize();
    requirePageBytes(parseSizes(pages).pageBytes);
    clearUnused(pages, HEADER_BYTES);
    return pages;
  } finally {
    db.close();
  }
}

/** Removes from the name indexes what FTS5 leaves of deleted names. */
function forgetTerms(db: Sqlite): void {
  db.exec(
    "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON; BEGIN",
  );
  for (const kind of nameKinds) renewSeparators(db, kind);
  db.exec("COMMIT");
}

/** The versions of FTS5's format that the code below knows: at first, and after a "secure-delete". */
const FTS5_FORMATS = [4, 5];

/** The id of a page is this times the number of its segment, plus the number of the page. */
const PAGES_PER_SEGMENT = 2 ** 37;

interface Separated {
  segid: number;
  pgno: number;
  separator: Uint8Array;
  page: Uint8Array;
}

/**
 * After a "secure-delete" of the first term on a page, FTS5 keeps the first letters of that term as
 * the separator from the page before. FTS5 writes its pages when it commits. Their format is defined
 * by ext/fts5/fts5_index.c in SQLite's source code.
 */
function renewSeparators(db: Sqlite, kind: NameKind): void {
  const table = `${kind}_ngram`;
  const format = `SELECT v AS version FROM ${table}_config WHERE k = 'version'`;
  const version = db.prepare<{ version: number }>(format).get()?.version;
  if (version === undefined || !FTS5_FORMATS.includes(version)) {
    throw new Error(`FTS5 has the unknown format ${version}`);
  }

  const pages = db.prepare<Separated>(
    `SELECT segid, pgno, CAST(term AS BLOB) AS separator, block AS page
      FROM ${table}_idx JOIN ${table}_data ON id = segid * ${PAGES_PER_SEGMENT} + pgno / 2`,
  );
  const renew = db.prepare(
    `UPDATE ${table}_idx SET term = ? WHERE segid = ? AND CAST(term AS BLOB) = ? AND pgno = ?`,
  );

  const stale: (Omit<Separated, "page"> & { first: Buffer })[] = [];
  for (const { page, ...row } of pages.iterate()) {
    const first = firstTermOn(Buffer.from(page));
    const isStale = !first.subarray(0, row.separator.length).equals(row.separator);
    if (isStale) stale.push({ ...row, first });
  }

  for (const { segid, pgno, separator, first } of stale) {
    // The whole term sorts after the term before it, too.
    renew.run(first, segid, separator, pgno);
  }
}

/** The doclists of a page are followed by the offset of each term. A term begins with its length. */
function firstTermOn(page: Buffer): Buffer {
  const offset = readVarint(page, page.readUInt16BE(2)).value;
  const { value: length, end } = readVarint(page, offset);
  return page.subarray(end, end + length);
}

/** Page offsets and term lengths take at most two bytes. */
function readVarint(bytes: Buffer, at: number) {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return { value: first, end: at + 1 };
  return { value: (first - 0x80) * 0x80 + (bytes[at + 1] ?? 0), end: at + 2 };
}

/** SQLite's default, which no snapshot changes. */
const PAGE_BYTES = 4096;
/** The types of B-tree pages, and the lengths of their headers. */
const btreeHeaders: Record<number, number> = { 2: 12, 5: 12, 10: 8, 13: 8 };
const zeros = Buffer.alloc(PAGE_BYTES);

function requirePageBytes(pageBytes: number): void {
  if (pageBytes === PAGE_BYTES) return;
  throw new Error(`the pages of a snapshot must have ${PAGE_BYTES} bytes`);
}

/**
 * Fills the space between the cell pointers and the cells of each B-tree page with zeros, because
 * SQLite leaves copies of moved rows there, even with `secure_delete`. `pages` begins with
 * `fileHeaderBytes` of another kind. Returns whether anything has changed.
 */
function clearUnused(pages: Uint8Array, fileHeaderBytes: number): boolean {
  let hasChanged = false;
  for (let at = 0; at < pages.length; at += PAGE_BYTES) {
    const page = Buffer.from(pages.buffer, pages.byteOffset + at, PAGE_BYTES);
    const start = at === 0 ? fileHeaderBytes : 0;
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
