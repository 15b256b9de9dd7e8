/**
 * Forgets what a change removes from a snapshot, so that no byte of the file shows it. It takes
 * three steps, all of which `SnapshotWriter` does for any database:
 *
 * 1. SQLite overwrites what it deletes with zeros (`secure_delete`). So does FTS5, whose tables say
 *    so (search/name-index.ts).
 * 2. {@link forgetRemains} removes from the name indexes what is left after that.
 * 3. `finishFile` and `finishBytes` clear the space that pages no longer use, where SQLite leaves
 *    copies of rows.
 *
 * The id and the time of a takedown stay for an hour (takedowns.ts).
 */
import { type NameKind, nameKinds } from "../../search/name-index.ts";
import type { Database, Sqlite } from "../../sqlite/driver.ts";

/** Removes from a committed database what is left of deleted records. */
export function forgetRemains(db: Database): void {
  for (const kind of nameKinds) renewSeparators(db.$client, kind);
}

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
