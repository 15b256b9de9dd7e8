/**
 * Builds the search index of a snapshot: the folded names in rank order, the open grams, and the
 * lists of ranks by gram. names.ts answers from it.
 */

import { fold } from "../search/fold.ts";
import { countGrams, gramsOf, SEPARATOR } from "../search/grams.ts";
import { createCountingTree, createOpenTree } from "../search/trie.ts";
import type { Sqlite } from "./sqlite.ts";

export type NameKind = "user" | "company";

/**
 * A gram in more names than this is open. Smaller lists mean fewer names to look at in a query and
 * more grams; `bun run bench search` shows both.
 */
const OPEN_ABOVE = 100;

/** FTS5 keeps this many bytes of new lists in memory before it writes them out as one segment. */
const FTS_BUFFER_BYTES = 8 * 2 ** 20;

/** What comes first in the order of a tier, before the id. */
const weightOf: Record<NameKind, (row: { folded: string; memberCount: number }) => number> = {
  user: ({ folded }) => [...folded].length,
  company: ({ memberCount }) => -memberCount,
};

/** Indexes the names of every public user or every company of `db`. */
export function buildNameIndex(db: Sqlite, kind: NameKind): void {
  db.exec(
    "CREATE TEMP TABLE sorted (weight INTEGER, id INTEGER, folded TEXT, PRIMARY KEY (weight, id)) WITHOUT ROWID",
  );
  const names = db.prepare<{ id: number; name: string; memberCount: number }>(
    `SELECT id, name, ${kind === "company" ? "member_count" : 0} AS memberCount FROM ${kind}`,
  );
  const sort = db.prepare("INSERT INTO sorted VALUES (?, ?, ?)");
  for (const { id, name, memberCount } of names.iterate()) {
    const folded = fold(name);
    sort.run(weightOf[kind]({ folded, memberCount }), id, folded);
  }

  const addName = db.prepare(`INSERT INTO ${kind}_name (rank, id, folded) VALUES (?, ?, ?)`);
  const counting = createCountingTree(OPEN_ABOVE);
  let rank = 0;
  const sorted = db.prepare<{ id: number; folded: string }>(
    "SELECT id, folded FROM sorted ORDER BY weight, id",
  );
  for (const { id, folded } of sorted.iterate()) {
    addName.run(++rank, id, folded);
    countGrams(folded, counting);
  }
  db.exec("DROP TABLE sorted");

  const addOpenGram = db.prepare(`INSERT INTO ${kind}_open_gram (gram, count) VALUES (?, ?)`);
  const open = [...counting.listOpen()];
  for (const { gram, count } of open) addOpenGram.run(gram, count);
  const tree = createOpenTree(open);

  configure(db, kind, "automerge", 0);
  configure(db, kind, "hashsize", FTS_BUFFER_BYTES);
  const addGrams = db.prepare(`INSERT INTO ${kind}_gram (rowid, grams) VALUES (?, ?)`);
  const folded = db.prepare<{ rank: number; folded: string }>(
    `SELECT rank, folded FROM ${kind}_name ORDER BY rank`,
  );
  for (const row of folded.iterate()) {
    addGrams.run(row.rank, gramsOf(row.folded, tree).join(SEPARATOR));
  }
  db.exec(`INSERT INTO ${kind}_gram (${kind}_gram) VALUES ('optimize')`);
}

function configure(db: Sqlite, kind: NameKind, option: string, value: number): void {
  db.exec(`INSERT INTO ${kind}_gram (${kind}_gram, rank) VALUES ('${option}', ${value})`);
}
