/** Builds the search index of a snapshot: the names in rank order, and the posting lists. */
import { SPELLING_END, spell } from "../../search/fold.ts";
import { type FoldedNames, NamePacker, spellingsAt } from "../../search/folded-names.ts";
import { MAX_NGRAM } from "../../search/ngrams.ts";
import { listPostings } from "../../search/posting-lists.ts";
import { codePointsOf, hasCodePoints } from "../../search/tiers.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "../format/schema.ts";
import { FREQUENT_ABOVE, needsEqualLookup } from "./candidates.ts";
import { SegmentWriter } from "./fts5-segment.ts";
import { createLongListWriter, isLong, LONG_SHARE } from "./long-lists.ts";

/**
 * Ranks have gaps, so that adding a name moves only a few others: one rank after every N names with
 * the same sort key, and more after the last name with that key, where most new names are added.
 */
const NAMES_PER_GAP = 16;

/** An import pauses after this many names or posting-list entries, so that it notices signals. */
const STEP_NAMES = 1 << 13;
const STEP_LISTED = 1 << 18;

/** The column with a company's member count. Users have none. */
export const memberCountSql: Record<NameKind, string> = { user: "0", company: "member_count" };

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
  const names = yield* readNames(db, kind);
  const ranks = assignRanks(names);

  const addName = db.prepare(addNameSql(kind));
  for (let at = 0; at < ranks.length; at++) {
    addName.run(ranks[at] ?? 0, spellingsAt(names, at), names.ids[at] ?? 0);
    if (at % STEP_NAMES === 0) yield 0;
  }
  const longNames = openLongNames(db, kind);
  const listNames = db.prepare<{ rank: number; folded: string }>(
    `SELECT rank, folded FROM ${kind}_name WHERE length(folded) >= ${MAX_NGRAM}`,
  );
  if (longNames) for (const { rank, folded } of listNames.iterate()) longNames.add(rank, folded);

  const addFrequentNgram = db.prepare(
    `INSERT INTO ${kind}_frequent_ngram (ngram, count, list) VALUES (CAST(? AS TEXT), ?, ?)`,
  );
  const segment = new SegmentWriter(db, `${kind}_ngram`);
  const writeLongList = createLongListWriter(db, kind, ranks.length);
  let listed = 0;
  for (const list of listPostings(names, ranks, FREQUENT_ABOVE)) {
    const { ngram, ngramBytes, count, isFrequent } = list;
    let number: number | null = null;
    if (isFrequent && isLong(count, ranks.length, longShare)) number = writeLongList(list);
    else segment.add(list);
    if (isFrequent) addFrequentNgram.run(ngram.subarray(0, ngramBytes), count, number);
    listed += list.size;
    if (listed > STEP_LISTED) {
      listed = 0;
      yield (ngram[0] ?? 0) / 0x100;
    }
  }
  segment.finish(ranks.length);
}

/** The parameters are the rank, the folded name as text or UTF-8, and the id. */
export function addNameSql(kind: NameKind): string {
  if (kind === "user") {
    return "INSERT INTO user_name (rank, folded, id) VALUES (?, CAST(? AS TEXT), ?)";
  }
  return `INSERT INTO company_name (rank, folded, id, member_count)
    SELECT ?, CAST(? AS TEXT), id, member_count FROM company WHERE id = ?`;
}

/**
 * Keeps the long spellings in a table, for queries that equal them, because no n-gram contains both
 * the beginning and the end of such a spelling. Returns undefined if searches do not read it.
 */
export function openLongNames(db: Sqlite, kind: NameKind) {
  if (!needsEqualLookup(db, kind)) return undefined;
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

/** A function of its own, so that the packer's memory is freed before the lists are built. */
function* readNames(db: Sqlite, kind: NameKind): Generator<number, FoldedNames> {
  const count = db.prepare<{ names: number }>(`SELECT count(*) AS names FROM ${kind}`).get();
  const packer = new NamePacker(count?.names ?? 0);
  const rows = db.prepare<{ id: number; name: string; memberCount: number }>(
    `SELECT id, name, ${memberCountSql[kind]} AS memberCount FROM ${kind} ORDER BY id`,
  );
  let steps = 0;
  for (const { id, name, memberCount } of rows.iterate()) {
    const folded = spell(name);
    packer.add(id, sortKeyOf(kind, { folded, memberCount }), folded);
    if (++steps % STEP_NAMES === 0) yield 0;
  }
  return packer.finish();
}

function assignRanks({ sortKeys }: FoldedNames): Uint32Array {
  let rank = 0;
  let lastKey: number | undefined;
  let sameKey = 0;
  return Uint32Array.from(sortKeys, (key) => {
    rank++;
    if (key !== lastKey) {
      rank += NAMES_PER_GAP + Math.floor(sameKey / NAMES_PER_GAP);
      sameKey = 0;
    } else if (sameKey % NAMES_PER_GAP === 0) rank++;
    lastKey = key;
    sameKey++;
    return rank;
  });
}
