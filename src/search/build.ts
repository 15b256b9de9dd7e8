/** Builds the search index of a snapshot: the names in rank order, and the posting lists. */
import { codePointsOf, hasCodePoints } from "../domain/text.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { SPELLING_END, spell } from "./fold.ts";
import { createSegmentWriter } from "./fts5-segment.ts";
import { createLongListWriter, isLong } from "./long-lists.ts";
import { START } from "./ngrams.ts";
import { createPacker, listPostings } from "./posting-lists.ts";
import { createNameTables, memberCountSql, type NameKind } from "./tables.ts";
import {
  FREQUENT_ABOVE,
  LONG_SHARE,
  MAX_NGRAM,
  NAMES_PER_GAP,
  STEP_LISTED,
  STEP_NAMES,
} from "./tuning.ts";

/** Within a tier, names are ordered by this key and then by id. */
export function sortKeyOf(kind: NameKind, row: { folded: string; memberCount: number }): number {
  if (kind === "company") return -row.memberCount;
  return codePointsOf(row.folded.split(SPELLING_END, 1)[0] ?? "");
}

/** Replaces the index of a kind of names. Yields the fraction that is done after each step. */
export function* buildNameIndex(
  db: Sqlite,
  kind: NameKind,
  longShare = LONG_SHARE,
): Generator<number, void> {
  createNameTables(db, kind);
  const { packed, names } = yield* addNames(db, kind);
  const addFrequentNgram = db.prepare(
    `INSERT INTO ${kind}_frequent_ngram (ngram, count, list) VALUES (?, ?, ?)`,
  );
  const segment = createSegmentWriter(db, `${kind}_ngram`);
  const writeLongList = createLongListWriter(db, kind);
  const addLongName = openLongNames(db, kind);
  const findName = db.prepare<{ folded: string }>(`SELECT folded FROM ${kind}_name WHERE rank = ?`);
  let listed = 0;
  for (const list of listPostings(packed, FREQUENT_ABOVE)) {
    const { ngram, docIds, size, count } = list;
    const isFrequent = count > FREQUENT_ABOVE;
    const isInLongList = isFrequent && isLong(count, names, longShare);
    const number = isInLongList ? writeLongList(docIds.subarray(0, size)) : null;
    if (isFrequent) addFrequentNgram.run(ngram, count, number);
    if (number === null) segment.add(list);
    if (isFrequent && ngram.startsWith(START) && hasCodePoints(ngram, MAX_NGRAM + 1)) {
      for (const rank of docIds.subarray(0, size)) addLongName(rank, findName.get(rank)?.folded);
    }
    listed += size;
    if (listed > STEP_LISTED) {
      listed = 0;
      yield Math.min(1, ngram.charCodeAt(0) / 0x100);
    }
  }
  segment.finish(names);
}

/** The parameters are the rank, the folded name and the id. */
export const addNameSql: Record<NameKind, string> = {
  user: "INSERT INTO user_name (rank, folded, id) VALUES (?, ?, ?)",
  company: `INSERT INTO company_name (rank, folded, id, member_count)
    SELECT ?, ?, id, member_count FROM company WHERE id = ?`,
};

/**
 * Keeps long spellings in a table, for queries that equal them, because no n-gram contains both the
 * beginning and the end of such a spelling. A search needs those that begin with a frequent n-gram
 * of the maximum length. Returns a function that adds or removes the spellings of a name.
 */
export function openLongNames(db: Sqlite, kind: NameKind) {
  const insert = db.prepare(`INSERT OR IGNORE INTO ${kind}_long_name (folded, rank) VALUES (?, ?)`);
  const remove = db.prepare(`DELETE FROM ${kind}_long_name WHERE folded = ? AND rank = ?`);
  return (rank: number, spellings = "", isListed = true): void => {
    for (const spelling of spellings.split(SPELLING_END)) {
      if (hasCodePoints(spelling, MAX_NGRAM)) (isListed ? insert : remove).run(spelling, rank);
    }
  };
}

/** Adds the names in the order of their ranks. */
function* addNames(db: Sqlite, kind: NameKind) {
  const rows = db.prepare<{ id: number; name: string; memberCount: number }>(
    `SELECT id, name, ${memberCountSql[kind]} AS memberCount FROM ${kind} ORDER BY id`,
  );
  const byKey = new Map<number, { ids: number[]; names: string[] }>();
  let count = 0;
  let bytes = 0;
  for (const { id, name, memberCount } of rows.iterate()) {
    const folded = spell(name);
    const sortKey = sortKeyOf(kind, { folded, memberCount });
    const same = byKey.get(sortKey);
    if (same) {
      same.ids.push(id);
      same.names.push(folded);
    } else byKey.set(sortKey, { ids: [id], names: [folded] });
    bytes += Buffer.byteLength(folded) + 1;
    if (++count % STEP_NAMES === 0) yield 0;
  }
  const addName = db.prepare(addNameSql[kind]);
  const packer = createPacker(bytes);
  let rank = NAMES_PER_GAP;
  let added = 0;
  for (const [, { ids, names }] of [...byKey].sort(([a], [b]) => a - b)) {
    for (const [at, folded] of names.entries()) {
      rank += at > 0 && at % NAMES_PER_GAP === 0 ? 2 : 1;
      addName.run(rank, folded, ids[at] ?? 0);
      packer.add(folded, rank);
      if (++added % STEP_NAMES === 0) yield 0;
    }
    rank += NAMES_PER_GAP + Math.floor(ids.length / NAMES_PER_GAP);
  }
  return { packed: packer.packed, names: count };
}
