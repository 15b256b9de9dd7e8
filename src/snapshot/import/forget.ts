/**
 * Forgets what a change removes from a snapshot, so that no byte of the file shows it:
 *
 * 1. While a database is written, SQLite overwrites what it deletes with zeros (`secure_delete`). So
 *    does FTS5, whose tables say so (search/name-index.ts).
 * 2. `Removals` removes the records, and then their names from the index. The time of a takedown
 *    stays until the first change or import after an hour (hold-takedowns.ts).
 * 3. `forgetRemains`, with which `SnapshotWriter` finishes any database, removes what is left.
 * 4. `finishFile` and `finishBytes` clear the space that pages no longer use, where SQLite leaves copies of rows.
 */
import { eq, lte, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { ChangeLine } from "../../domain/dataset.ts";
import { NameChanges, type NameKind, nameKinds } from "../../search/name-index.ts";
import type { Database, Sqlite } from "../../sqlite/driver.ts";
import { achievement, company, privateUser, role, takedown, user } from "../format/schema.ts";
import { MAX_HOLD_MS } from "./hold-takedowns.ts";

const id = sql.placeholder("id");

/** Removes the records that a change file replaces or deletes. */
export class Removals {
  readonly #names: NameChanges;
  readonly #deletions;
  readonly #beginTakedown;
  readonly #endTakedown;

  /** `nowMs` is the time of the takedowns. */
  constructor(db: Database, nowMs: number) {
    db.delete(takedown)
      .where(lte(takedown.at, nowMs - MAX_HOLD_MS))
      .run();
    const prepare = (table: SQLiteTable) => db.delete(table).where(sql`id = ${id}`).prepare();
    this.#names = new NameChanges(db.$client);
    this.#beginTakedown = db.insert(takedown).values({ id, at: nowMs }).prepare();
    this.#endTakedown = db.delete(takedown).where(eq(takedown.id, id)).prepare();
    this.#deletions = {
      role: [prepare(role)],
      achievement: [prepare(achievement)],
      company: [prepare(company)],
      user: [prepare(user), prepare(privateUser)],
    };
  }

  /** Removes the record that a change replaces or deletes. Returns whether there was one. */
  remove(change: ChangeLine): boolean {
    const { type, id } = change;
    if (type === "user") {
      // A takedown also counts if the user has not been imported yet. A repeated one begins again.
      this.#endTakedown.run({ id });
      if (!("public" in change && change.public)) this.#beginTakedown.run({ id });
    }
    if (type === "user" || type === "company") this.#names.note(type, id);
    return this.#deletions[type].some((deletion) => deletion.run({ id }).changes > 0);
  }

  /** Brings the name indexes in line with the records, all of which must have been written. */
  finish(): void {
    this.#names.finish();
  }
}

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
    if (!first.subarray(0, row.separator.length).equals(row.separator))
      stale.push({ ...row, first });
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
