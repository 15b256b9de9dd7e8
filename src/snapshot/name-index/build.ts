/**
 * Builds the search index of a snapshot: the folded names in rank order, the frequent n-grams, and the
 * posting lists of ranks by n-gram. find.ts reads it.
 */
import { type FoldedNames, packNames, spellingsAt } from "../../search/folded-names.ts";
import { listPostings } from "../../search/posting-lists.ts";
import { codePointsOf } from "../../search/rank.ts";
import { firstSpelling, spell } from "../../search/spellings.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "../format/schema.ts";
import { FREQUENT_ABOVE, LONG_SHARE, NAMES_PER_GAP, STEP_LISTED, STEP_NAMES } from "./constants.ts";
import { createSegment } from "./fts5-segment.ts";
import { createLongListWriter, isLong } from "./long-lists.ts";
import { openLongNames } from "./long-names.ts";

/** What comes first in the order of a tier, before the id. */
export const weightOf: Record<NameKind, (row: { folded: string; memberCount: number }) => number> =
  {
    user: ({ folded }) => codePointsOf(firstSpelling(folded)),
    company: ({ memberCount }) => -memberCount,
  };

/**
 * Indexes the names of every public user or every company of `db`, in place of any index there is;
 * posting lists with more than one in `longShare` of them are long lists. Goes on in steps, so that the
 * caller can do other things in between: after each, the share (0 to 1) that is built.
 */
export function* buildNameIndex(
  db: Sqlite,
  kind: NameKind,
  longShare = LONG_SHARE,
): Generator<number, void> {
  clear(db, kind);
  const names = yield* readNames(db, kind);
  const ranks = rank(names);

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
  const segment = createSegment(db, `${kind}_ngram`);
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

/** What a search returns beside the id: see schema.ts. */
const hitColumns: Record<NameKind, string> = {
  user: "name, avatar_url, company_name",
  company: "name, member_count",
};

/** Adds the name of a row, given its rank, its folded name and its id. */
export function addNameSql(kind: NameKind, folded = "?"): string {
  return `INSERT INTO ${kind}_name (rank, folded, id, ${hitColumns[kind]})
    SELECT ?, ${folded}, id, ${hitColumns[kind]} FROM ${kind} WHERE id = ?`;
}

function clear(db: Sqlite, kind: NameKind): void {
  for (const table of ["name", "long_name", "frequent_ngram", "long_list"]) {
    db.exec(`DELETE FROM ${kind}_${table}`);
  }
  // After this command, FTS5 sees nothing of the lists that this connection writes to its tables.
  const isListed = db.prepare(`SELECT 1 FROM ${kind}_ngram_idx LIMIT 1`).get();
  if (isListed) db.exec(`INSERT INTO ${kind}_ngram (${kind}_ngram) VALUES ('delete-all')`);
}

/** Of its own, so that what it packs with is not kept. */
function* readNames(db: Sqlite, kind: NameKind): Generator<number, FoldedNames> {
  const count = db.prepare<{ names: number }>(`SELECT count(*) AS names FROM ${kind}`).get();
  const packing = packNames(count?.names ?? 0);
  const rows = db.prepare<{ id: number; name: string; memberCount: number }>(
    kind === "company"
      ? "SELECT id, name, member_count AS memberCount FROM company ORDER BY id"
      : "SELECT id, name, 0 AS memberCount FROM user ORDER BY id",
  );
  let steps = 0;
  for (const { id, name, memberCount } of rows.iterate()) {
    const folded = spell(name);
    packing.add(id, weightOf[kind]({ folded, memberCount }), folded);
    if (++steps % STEP_NAMES === 0) yield 0;
  }
  return packing.finish();
}

/** The rank of each name. */
function rank({ weights }: FoldedNames): Uint32Array {
  let rank = 0;
  let lastWeight: number | undefined;
  let sameWeight = 0;
  return Uint32Array.from(weights, (weight) => {
    rank++;
    if (weight !== lastWeight) {
      rank += NAMES_PER_GAP + Math.floor(sameWeight / NAMES_PER_GAP);
      sameWeight = 0;
    } else if (sameWeight % NAMES_PER_GAP === 0) rank++;
    lastWeight = weight;
    sameWeight++;
    return rank;
  });
}
