/**
 * Forgets a person. This is all that hiding or deleting a user must clear from a snapshot, in order:
 *
 * 1. `createForgetting`: from now on, SQLite and FTS5 overwrite what they delete with zeros.
 * 2. `forget`, for each user: the name in the index and the profile. The time of the takedown stays
 *    until the first change or import after an hour (hold-takedowns.ts).
 * 3. `forgetNgrams`, after the last user: the n-grams that no other name has.
 * 4. `forgetSeparators`, when FTS5 has written its pages: n-grams that it keeps to find a page.
 * 5. `clearUnused`, when the file is written: copies of rows that SQLite has moved to another page.
 */
import { eq, lte, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { ChangeLine } from "../../domain/dataset.ts";
import { openNameChanges } from "../../search/change.ts";
import { renewSeparators } from "../../search/fts5-segment.ts";
import type { NameKind } from "../../search/tables.ts";
import type { Database } from "../../sqlite/driver.ts";
import { HEADER_BYTES } from "../format/header-trailer.ts";
import { achievement, company, privateUser, role, takedown, user } from "../format/schema.ts";
import { MAX_HOLD_MS } from "./hold-takedowns.ts";

const kinds = ["user", "company"] as const;
const id = sql.placeholder("id");

/** `nowMs` is the time of the takedowns. */
export function createForgetting(db: Database, nowMs: number) {
  db.$client.exec("PRAGMA secure_delete = ON");
  const names = {
    user: openNameChanges(db.$client, "user"),
    company: openNameChanges(db.$client, "company"),
  };
  const expiredMs = nowMs - MAX_HOLD_MS;
  db.delete(takedown).where(lte(takedown.at, expiredMs)).run();
  const begin = db.insert(takedown).values({ id, at: nowMs }).prepare();
  const end = db.delete(takedown).where(eq(takedown.id, id)).prepare();
  const prepare = (table: SQLiteTable) => db.delete(table).where(sql`id = ${id}`).prepare();
  const deletions = {
    role: [prepare(role)],
    achievement: [prepare(achievement)],
    company: [prepare(company)],
    user: [prepare(user), prepare(privateUser)],
  };

  return {
    /** Removes the record that `line` replaces or deletes. Returns whether there was one. */
    forget(line: ChangeLine): boolean {
      const { type, id } = line;
      if (type === "user") {
        // A takedown also counts if the user has not been imported yet. A repeated one begins again.
        end.run({ id });
        if (!("public" in line && line.public)) begin.run({ id });
      }
      if (type === "user" || type === "company") names[type].change(id);
      return deletions[type].some((deletion) => deletion.run({ id }).changes > 0);
    },
    /** Updates the name indexes to the new rows. Returns those that must be rebuilt instead. */
    forgetNgrams: (): NameKind[] => kinds.filter((kind) => !names[kind].finish()),
    forgetSeparators(): void {
      for (const kind of kinds) renewSeparators(db.$client, `${kind}_ngram`);
    },
  };
}

/** SQLite's default, which no snapshot changes. */
const PAGE_BYTES = 4096;
/** The types of B-tree pages, and the lengths of their headers. */
const btreeHeaders: Record<number, number> = { 2: 12, 5: 12, 10: 8, 13: 8 };
const zeros = Buffer.alloc(PAGE_BYTES);

/**
 * Fills the space between the cell pointers and the cells of each B-tree page with zeros, because
 * SQLite leaves copies of moved rows there, even with `secure_delete`. `pages` begins at the offset
 * `from` in the file. Returns whether anything has changed.
 */
export function clearUnused(pages: Uint8Array, from: number): boolean {
  let hasChanged = false;
  for (let at = 0; at < pages.length; at += PAGE_BYTES) {
    const page = Buffer.from(pages.buffer, pages.byteOffset + at, PAGE_BYTES);
    const start = from + at === 0 ? HEADER_BYTES : 0;
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
