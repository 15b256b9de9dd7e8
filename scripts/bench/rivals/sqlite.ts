/** Searches the same names with SQLite alone, by a LIKE scan and with FTS5's trigram index. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { NameKind } from "../../../src/domain/model.ts";
import { fold } from "../../../src/search/fold.ts";
import { temporaryFolder } from "../../../test/support.ts";

/** Searches the names of a snapshot and returns up to ten results. */
export interface Finder {
  find(query: string): unknown;
  /** Queries with fewer characters find nothing. */
  minLength?: number;
  close(): unknown;
}

/** Lists the names in the order of results within a tier. */
const listNames = (kind: NameKind) =>
  `SELECT row_number() OVER (ORDER BY ${kind === "user" ? "length(folded)" : "-member_count"}, id)
    AS rank, folded FROM ${kind}`;

export function readNames(snapshot: string): { rank: number; folded: string }[] {
  using db = new Database(snapshot, { readonly: true });
  return db.query<{ rank: number; folded: string }, []>(listNames("user")).all();
}

/** Sorts by tiers 1, 2 and 4 of src/search/README.md. Within a tier, names are sorted by `rank`. */
const TIERS = "(folded = $q) DESC, (folded LIKE $prefix) DESC";

export function patternsOf(query: string): { $q: string; $prefix: string; $like: string } {
  const q = fold(query);
  const literal = q.replaceAll(/[\\%_]/g, "\\$&");
  return { $q: q, $prefix: `${literal}%`, $like: `%${literal}%` };
}

export function openLike(snapshot: string, kind: NameKind = "user"): Finder {
  const db = openCopy(snapshot, kind, "TABLE name (rank INTEGER PRIMARY KEY, folded TEXT)");
  const find = db.query(
    `SELECT rank FROM name WHERE folded LIKE $like ESCAPE '\\' ORDER BY ${TIERS}, rank LIMIT 10`,
  );
  return { find: (query) => find.all(patternsOf(query)), close: () => db.close() };
}

export function openTrigram(snapshot: string): Finder {
  const table = "VIRTUAL TABLE name USING fts5(folded, tokenize = 'trigram')";
  const db = openCopy(snapshot, "user", table);
  // As Roadbook opens its index.
  db.run(`PRAGMA cache_size = -32768; PRAGMA mmap_size = ${2 ** 31}`);
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

/** Copies the names to the table `name` of another database, which `declaration` declares. */
function openCopy(snapshot: string, kind: NameKind, declaration: string): Database {
  const db = new Database(join(temporaryFolder(), "names"));
  db.run("PRAGMA journal_mode = OFF");
  db.run(`CREATE ${declaration}`);
  db.run("ATTACH ? AS snapshot", [snapshot]);
  db.run(`INSERT INTO name (rowid, folded) ${listNames(kind)}`);
  return db;
}
