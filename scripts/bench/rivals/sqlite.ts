/** A rival of the search in SQLite itself: FTS5's own trigrams. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { fold } from "../../../src/search/fold.ts";
import type { NameKind } from "../../../src/snapshot/format/schema.ts";
import { temporaryFolder } from "../../../test/support.ts";

/** A way to search the names of a snapshot for ten results; it finds fewer than ours. */
export interface Rival {
  find(query: string): unknown;
  /** In characters; it finds nothing by fewer. */
  shortest?: number;
  close(): unknown;
}

/** In the order of the contract. */
const NAMES = "SELECT rank, folded FROM user_name ORDER BY rank";

export function readNames(snapshot: string): { rank: number; folded: string }[] {
  using db = new Database(snapshot, { readonly: true });
  return db.query<{ rank: number; folded: string }, []>(NAMES).all();
}

/** Tiers 1, 2 and 4 of the contract; rank is the order inside a tier. */
const TIERS = "(folded = $q) DESC, (folded LIKE $prefix) DESC";

export function patternsOf(query: string): { $q: string; $prefix: string; $like: string } {
  const q = fold(query);
  const literal = q.replaceAll(/[\\%_]/g, "\\$&");
  return { $q: q, $prefix: `${literal}%`, $like: `%${literal}%` };
}

export function openLike(snapshot: string, kind: NameKind = "user"): Rival {
  const db = new Database(snapshot, { readonly: true });
  const find = db.query(
    `SELECT rank FROM ${kind}_name WHERE folded LIKE $like ESCAPE '\\' ORDER BY ${TIERS}, rank LIMIT 10`,
  );
  return { find: (query) => find.all(patternsOf(query)), close: () => db.close() };
}

export function openTrigram(snapshot: string): Rival {
  const db = new Database(join(temporaryFolder(), "trigram"));
  db.run("PRAGMA journal_mode = OFF");
  db.run("CREATE VIRTUAL TABLE name USING fts5(folded, tokenize = 'trigram')");
  db.run("ATTACH ? AS snapshot", [snapshot]);
  db.run(`INSERT INTO name (rowid, folded) ${NAMES}`);
  const select = db.query(
    `SELECT rowid FROM name WHERE name MATCH $match ORDER BY ${TIERS}, rowid LIMIT 10`,
  );
  return {
    shortest: 3,
    find(query) {
      const { $q, $prefix } = patternsOf(query);
      return select.all({ $q, $prefix, $match: `"${$q.replaceAll('"', '""')}"` });
    },
    close: () => db.close(),
  };
}
