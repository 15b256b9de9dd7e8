/**
 * Builds the search index of a snapshot: the folded names in rank order, the frequent n-grams and
 * the posting lists. A name's rank is also its document id.
 */
import { type FoldedNames, NamePacker, spellingsAt } from "../../search/folded-names.ts";
import { listPostings } from "../../search/posting-lists.ts";
import { SPELLING_END, spell } from "../../search/spellings.ts";
import { codePointsOf } from "../../search/tiers.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "../format/schema.ts";
import { FREQUENT_ABOVE } from "./candidates.ts";
import { SegmentWriter } from "./fts5-segment.ts";
import { createLongListWriter, isLong, LONG_SHARE } from "./long-lists.ts";
import { openLongNames } from "./long-names.ts";

/**
 * Ranks have gaps, so that adding a name moves only a few others. One rank is left free after every
 * N names with the same sort key, and N plus one for every N names after the last name with that
 * key, because most new names are added there.
 */
const NAMES_PER_GAP = 16;

/** An import pauses after this many names or posting-list entries, so that it notices signals. */
const STEP_NAMES = 1 << 13;
const STEP_LISTED = 1 << 18;

/** Within a tier, names are ordered by this key and then by id. */
export const sortKeyOf: Record<NameKind, (row: { folded: string; memberCount: number }) => number> =
  {
    user: ({ folded }) => codePointsOf(folded.split(SPELLING_END, 1)[0] ?? ""),
    company: ({ memberCount }) => -memberCount,
  };

/**
 * Replaces the index of a kind of names. Yields the fraction that is done (0 to 1) after each step,
 * so that the caller can do other work between steps.
 */
export function* buildNameIndex(
  db: Sqlite,
  kind: NameKind,
  longShare = LONG_SHARE,
): Generator<number, void> {
  clear(db, kind);
  const names = yield* readNames(db, kind);
  const ranks = assignRanks(names);

  const addName = db.prepare(addNameSql(kind, "CAST(? AS TEXT)"));
  for (let at = 0; at < ranks.length; at++) {
    addName.run(ranks[at] ?? 0, spellingsAt(names, at), names.ids[at] ?? 0);
    if (at % STEP_NAMES === 0) yield 0;
  }
  const longNames = openLongNames(db, kind);
  if (longNames) for (const { rank, folded } of longNames.listAll()) longNames.add(rank, folded);

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

/** The parameters are the rank, the folded name and the id. */
export function addNameSql(kind: NameKind, folded = "?"): string {
  if (kind === "user") return `INSERT INTO user_name (rank, folded, id) VALUES (?, ${folded}, ?)`;
  return `INSERT INTO company_name (rank, folded, id, member_count)
    SELECT ?, ${folded}, id, member_count FROM company WHERE id = ?`;
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

/** This is a separate function so that the packer's memory is freed before the lists are built. */
function* readNames(db: Sqlite, kind: NameKind): Generator<number, FoldedNames> {
  const count = db.prepare<{ names: number }>(`SELECT count(*) AS names FROM ${kind}`).get();
  const packer = new NamePacker(count?.names ?? 0);
  const rows = db.prepare<{ id: number; name: string; memberCount: number }>(
    kind === "company"
      ? "SELECT id, name, member_count AS memberCount FROM company ORDER BY id"
      : "SELECT id, name, 0 AS memberCount FROM user ORDER BY id",
  );
  let steps = 0;
  for (const { id, name, memberCount } of rows.iterate()) {
    const folded = spell(name);
    packer.add(id, sortKeyOf[kind]({ folded, memberCount }), folded);
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
