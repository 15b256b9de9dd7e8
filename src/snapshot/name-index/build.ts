/**
 * Builds the search index of a snapshot: the folded names in rank order, the frequent n-grams, and the
 * posting lists of ranks by n-gram. find.ts reads it.
 */

import { fold } from "../../search/fold.ts";
import { createCountingTree, createFrequentTree } from "../../search/ngram-tree.ts";
import { countNgrams, ngramsOf, SEPARATOR } from "../../search/ngrams.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { createLongListWriter, LONG_SHARE, numberLongLists } from "./long-lists.ts";

export type NameKind = "user" | "company";

/**
 * An n-gram that was counted more often than this is frequent. Counting starts when the n-gram before
 * it is, so a posting list may be as many times longer as its n-gram has characters. A million users: with
 * 300 the index has 76 MB and 8 characters take 0.5 ms at p99, with 100 it is 87 MB and 0.2 ms, with
 * 50 it is 100 MB and 0.2 ms.
 */
export const FREQUENT_ABOVE = 100;

/**
 * FTS5 keeps this many bytes of new lists in memory before it writes them out as one segment. With
 * 64 MB the lists fall out of the processor's cache and take half as long again.
 */
const FTS_BUFFER_BYTES = 8 * 2 ** 20;

/** The names of a step. */
const STEP_NAMES = 1 << 13;

/**
 * Ranks leave a number free after this many names, and a share as large between one weight and the
 * next, where new names mostly come: so a name is added by moving a few, not all.
 */
const NAMES_PER_GAP = 16;

/** What comes first in the order of a tier, before the id. */
export const weightOf: Record<NameKind, (row: { folded: string; memberCount: number }) => number> =
  {
    user: ({ folded }) => [...folded].length,
    company: ({ memberCount }) => -memberCount,
  };

/**
 * Indexes the names of every public user or every company of `db`; posting lists with more than one in
 * `longShare` of them are long lists.
 */
export function buildNameIndex(db: Sqlite, kind: NameKind, longShare?: number): void {
  for (const _ of buildNameIndexInSteps(db, kind, longShare));
}

/** The same, for who has other things to do in between: after each step, the share (0 to 1) that is built. */
export function* buildNameIndexInSteps(
  db: Sqlite,
  kind: NameKind,
  longShare = LONG_SHARE,
): Generator<number, void> {
  db.exec(
    "CREATE TABLE sorted (weight INTEGER, id INTEGER, folded TEXT, PRIMARY KEY (weight, id)) WITHOUT ROWID",
  );
  const names = db.prepare<{ id: number; name: string; memberCount: number }>(
    `SELECT id, name, ${kind === "company" ? "member_count" : 0} AS memberCount FROM ${kind}`,
  );
  const sort = db.prepare("INSERT INTO sorted VALUES (?, ?, ?)");
  let count = 0;
  for (const { id, name, memberCount } of names.iterate()) {
    const folded = fold(name);
    sort.run(weightOf[kind]({ folded, memberCount }), id, folded);
    if (++count % STEP_NAMES === 0) yield 0;
  }

  const addName = db.prepare(`INSERT INTO ${kind}_name (rank, id, folded) VALUES (?, ?, ?)`);
  const counting = createCountingTree(FREQUENT_ABOVE);
  let rank = 0;
  let size = 0;
  let lastWeight: number | undefined;
  let sameWeight = 0;
  const sorted = db.prepare<{ weight: number; id: number; folded: string }>(
    "SELECT weight, id, folded FROM sorted ORDER BY weight, id",
  );
  for (const { weight, id, folded } of sorted.iterate()) {
    rank++;
    size++;
    if (weight !== lastWeight) {
      rank += NAMES_PER_GAP + Math.floor(sameWeight / NAMES_PER_GAP);
      sameWeight = 0;
    } else if (sameWeight % NAMES_PER_GAP === 0) rank++;
    lastWeight = weight;
    sameWeight++;
    addName.run(rank, id, folded);
    countNgrams(folded, counting);
    if (++count % STEP_NAMES === 0) yield 0;
  }
  db.exec("DROP TABLE sorted");

  const addFrequentNgram = db.prepare(
    `INSERT INTO ${kind}_frequent_ngram (ngram, count, list) VALUES (?, ?, ?)`,
  );
  const frequent = [...counting.listFrequent()];
  const longLists = numberLongLists(frequent, size, longShare);
  for (const { ngram, count } of frequent) {
    addFrequentNgram.run(ngram, count, longLists.get(ngram) ?? null);
  }
  const tree = createFrequentTree(frequent);

  configure(db, kind, "automerge", 0);
  configure(db, kind, "hashsize", FTS_BUFFER_BYTES);
  const addNgrams = db.prepare(`INSERT INTO ${kind}_ngram (rowid, ngrams) VALUES (?, ?)`);
  const writer = createLongListWriter(db, kind, longLists);
  const folded = db.prepare<{ rank: number; folded: string }>(
    `SELECT rank, folded FROM ${kind}_name ORDER BY rank`,
  );
  for (const row of folded.iterate()) {
    const short = writer.add(ngramsOf(row.folded, tree), row.rank);
    addNgrams.run(row.rank, short.join(SEPARATOR));
    if (++count % STEP_NAMES === 0) yield row.rank / rank;
  }
  writer.finish();
  db.exec(`INSERT INTO ${kind}_ngram (${kind}_ngram) VALUES ('optimize')`);
}

function configure(db: Sqlite, kind: NameKind, option: string, value: number): void {
  db.exec(`INSERT INTO ${kind}_ngram (${kind}_ngram, rank) VALUES ('${option}', ${value})`);
}
