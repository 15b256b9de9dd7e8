/** Builds the search index of a snapshot: the names in rank order, and the posting lists. */
import { codePointsOf, hasCodePoints } from "../domain/text.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { SPELLING_END, spell } from "./fold.ts";
import { SegmentWriter } from "./fts5-segment.ts";
import { createLongListWriter, isLong } from "./long-lists.ts";
import { NamePacker } from "./packed-names.ts";
import { listPostings } from "./posting-lists.ts";
import { memberCountSql, type NameKind } from "./tables.ts";
import { FREQUENT_ABOVE, LONG_SHARE, MAX_NGRAM, NAMES_PER_GAP } from "./tuning.ts";

/** An import pauses after this many names or posting-list entries, so that it notices signals. */
const STEP_NAMES = 1 << 13;
const STEP_LISTED = 1 << 18;

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
  clear(db, kind);
  const { names, ranks } = yield* addNames(db, kind);
  const addFrequentNgram = db.prepare(
    `INSERT INTO ${kind}_frequent_ngram (ngram, count, list) VALUES (?, ?, ?)`,
  );
  const segment = new SegmentWriter(db, `${kind}_ngram`);
  const writeLongList = createLongListWriter(db, kind);
  let listed = 0;
  for (const list of listPostings(names, ranks, FREQUENT_ABOVE)) {
    const { ngram, docIds, size, count, isFrequent } = list;
    let number: number | null = null;
    if (isFrequent && isLong(count, ranks.length, longShare))
      number = writeLongList(docIds.subarray(0, size));
    else segment.add(list);
    if (isFrequent) addFrequentNgram.run(ngram, count, number);
    listed += size;
    if (listed > STEP_LISTED) {
      listed = 0;
      yield Math.min(1, ngram.charCodeAt(0) / 0x100);
    }
  }
  segment.finish(ranks.length);
}

/** The parameters are the rank, the folded name and the id. */
export function addNameSql(kind: NameKind): string {
  if (kind === "user") {
    return "INSERT INTO user_name (rank, folded, id) VALUES (?, ?, ?)";
  }
  return `INSERT INTO company_name (rank, folded, id, member_count)
    SELECT ?, ?, id, member_count FROM company WHERE id = ?`;
}

/**
 * Keeps the long spellings in a table, for queries that equal them, because no n-gram contains both
 * the beginning and the end of such a spelling.
 */
export function openLongNames(db: Sqlite, kind: NameKind) {
  const insert = db.prepare(`INSERT OR IGNORE INTO ${kind}_long_name (folded, rank) VALUES (?, ?)`);
  const remove = db.prepare(`DELETE FROM ${kind}_long_name WHERE folded = ? AND rank = ?`);
  const longOf = (spellings: string) =>
    spellings.split(SPELLING_END).filter((spelling) => hasCodePoints(spelling, MAX_NGRAM));
  return {
    add(rank: number, spellings: string): void {
      for (const spelling of longOf(spellings)) insert.run(spelling, rank);
    },
    remove(rank: number, spellings: string): void {
      for (const spelling of longOf(spellings)) remove.run(spelling, rank);
    },
  };
}

function clear(db: Sqlite, kind: NameKind): void {
  for (const table of ["name", "long_name", "frequent_ngram", "long_list"]) {
    db.exec(`DELETE FROM ${kind}_${table}`);
  }
  // After 'delete-all', FTS5 does not see posting lists that this connection writes directly to
  // FTS5's tables, so an empty index is left alone.
  const isListed = db.prepare(`SELECT 1 FROM ${kind}_ngram_idx LIMIT 1`).get();
  if (isListed) db.exec(`INSERT INTO ${kind}_ngram (${kind}_ngram) VALUES ('delete-all')`);
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
  const addName = db.prepare(addNameSql(kind));
  const longNames = openLongNames(db, kind);
  const packer = new NamePacker(count, bytes);
  const ranks = new Uint32Array(count);
  let rank = NAMES_PER_GAP;
  let next = 0;
  for (const [, { ids, names }] of [...byKey].sort(([a], [b]) => a - b)) {
    for (const [at, id] of ids.entries()) {
      rank += at > 0 && at % NAMES_PER_GAP === 0 ? 2 : 1;
      const folded = names[at] ?? "";
      addName.run(rank, folded, id);
      longNames.add(rank, folded);
      packer.add(folded);
      ranks[next++] = rank;
      if (next % STEP_NAMES === 0) yield 0;
    }
    rank += NAMES_PER_GAP + Math.floor(ids.length / NAMES_PER_GAP);
  }
  return { names: packer.names, ranks };
}
