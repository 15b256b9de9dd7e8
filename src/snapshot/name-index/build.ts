/**
 * Builds the search index of a snapshot: the folded names in rank order, the frequent n-grams, and the
 * posting lists of ranks by n-gram. find.ts reads it.
 */
import { fold } from "../../search/fold.ts";
import { type FoldedNames, NAME_END, packNames } from "../../search/folded-names.ts";
import { listPostings } from "../../search/posting-lists.ts";
import { codePointsOf } from "../../search/rank.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { createSegment } from "./fts5-segment.ts";
import { createLongListWriter, isLong, LONG_SHARE } from "./long-lists.ts";

export type NameKind = "user" | "company";

/**
 * An n-gram that the names have more often than this is frequent, so the posting list of any other is no
 * longer. With a million users and 100 the index has 104 MB, with 200 it is 93 MB, with 400 85 MB.
 */
export const FREQUENT_ABOVE = 200;

/** The names of a step. */
const STEP_NAMES = 1 << 13;
/** The places in the lists of a step. */
const STEP_LISTED = 1 << 18;

/**
 * Ranks leave a number free after this many names, and a share as large between one weight and the
 * next, where new names mostly come: so a name is added by moving a few, not all.
 */
const NAMES_PER_GAP = 16;

/** What comes first in the order of a tier, before the id. */
export const weightOf: Record<NameKind, (row: { folded: string; memberCount: number }) => number> =
  {
    user: ({ folded }) => codePointsOf(folded),
    company: ({ memberCount }) => -memberCount,
  };

/**
 * Indexes the names of every public user or every company of `db`; posting lists with more than one in
 * `longShare` of them are long lists. In steps, for who has other things to do in between: after each,
 * the share (0 to 1) that is built.
 */
export function* buildNameIndex(
  db: Sqlite,
  kind: NameKind,
  longShare = LONG_SHARE,
): Generator<number, void> {
  const names = yield* readNames(db, kind);
  const ranks = rank(names);

  const addName = db.prepare(`INSERT INTO ${kind}_name VALUES (?, ?, CAST(? AS TEXT))`);
  for (let at = 0; at < ranks.length; at++) {
    const start = names.starts[at] ?? 0;
    const folded = names.text.subarray(start, names.text.indexOf(NAME_END, start));
    addName.run(ranks[at] ?? 0, names.ids[at] ?? 0, folded);
    if (at % STEP_NAMES === 0) yield 0;
  }

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

/** Of its own, so that what it packs with is not kept. */
function* readNames(db: Sqlite, kind: NameKind): Generator<number, FoldedNames> {
  const count = db.prepare<{ names: number }>(`SELECT count(*) AS names FROM ${kind}`).get();
  const packing = packNames(count?.names ?? 0);
  const rows = db.prepare<{ id: number; name: string; memberCount: number }>(
    `SELECT id, name, ${kind === "company" ? "member_count" : 0} AS memberCount FROM ${kind} ORDER BY id`,
  );
  let steps = 0;
  for (const { id, name, memberCount } of rows.iterate()) {
    const folded = fold(name);
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
