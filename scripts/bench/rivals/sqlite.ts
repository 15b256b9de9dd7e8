/** Searches the same names with SQLite alone, by a LIKE scan and with FTS5's trigram index. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { fold } from "../../../src/search/fold.ts";
import type { NameKind } from "../../../src/search/tables.ts";
import { temporaryFolder } from "../../../test/support.ts";

/** Searches the names of a snapshot and returns up to ten results. */
export interface Finder {
  find(query: string): unknown;
  /** Queries with fewer characters find nothing. */
  minLength?: number;
  close(): unknown;
}

/** Reads the names in rank order, which puts shorter names first. */
const NAMES = "SELECT rank, folded FROM user_name ORDER BY rank";

export function readNames(snapshot: string): { rank: number; folded: string }[] {
  using db = new Database(snapshot, { readonly: true });
  return db.query<{ rank: number; folded: string }, []>(NAMES).all();
}

/** Sorts by tiers 1, 2 and 4 of src/search/README.md. Within a tier, names are sorted by `rank`. */
const TIERS = "(folded = $q) DESC, (folded LIKE $prefix) DESC";

export function patternsOf(query: string): { $q: string; $prefix: string; $like: string } {
  const q = fold(query);
  const literal = q.replaceAll(/[\\%_]/g, "\\$&");
  return { $q: q, $prefix: `${literal}%`, $like: `%${literal}%` };
}

export function openLike(snapshot: string, kind: NameKind = "user"): Finder {
  const db = new Database(snapshot, { readonly: true });
  const find = db.query(
    `SELECT rank FROM ${kind}_name WHERE folded LIKE $like ESCAPE '\\' ORDER BY ${TIERS}, rank LIMIT 10`,
  );
  return { find: (query) => find.all(patternsOf(query)), close: () => db.close() };
}

export function openTrigram(snapshot: string): Finder {
  const db = new Database(join(temporaryFolder(), "trigram"));
  db.run("PRAGMA journal_mode = OFF");
  db.run("CREATE VIRTUAL TABLE name USING fts5(folded, tokenize = 'trigram')");
  db.run("ATTACH ? AS snapshot", [snapshot]);
  db.run(`INSERT INTO name (rowid, folded) ${NAMES}`);
  const select = db.query(
    `SELECT rowid FROM name WHERE name MATCH $match ORDER BY ${TIERS}, rowid LIMIT 10`,
  );
  return {
    minLength: 3,
    find(query) {
      const { $q, $prefix } = patternsOf(query);
      return select.all({ $q, $prefix, $match: `"${$q.replaceAll('"', '""')}"` });
    },
    close: () => db.close(),
  };
}
