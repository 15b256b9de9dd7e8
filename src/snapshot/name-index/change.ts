/**
 * Changes the search index of a snapshot name by name, so that afterwards it is one that
 * build.ts could have built: same order, no trace of a name that is gone, short posting lists short.
 * When that would take longer than building it anew, or cannot be had, it is built anew.
 */
import { fold } from "../../search/fold.ts";
import { ngramsOf, SEPARATOR } from "../../search/ngrams.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { buildNameIndex, FREQUENT_ABOVE, type NameKind, weightOf } from "./build.ts";
import { matchAll } from "./find.ts";
import { isLong, openLongListChanges } from "./long-lists.ts";

/** To find a free rank, this many names are moved at most. */
const MAX_MOVES = 4096;

/** When more than one name in so many changes its rank, building the index anew is faster. */
const REBUILD_SHARE = 5;

interface Key {
  id: number;
  folded: string;
  weight: number;
}

export interface NameChanges {
  /** Takes the name out; to be called while its row is still there. Unknown ids are ignored. */
  remove(id: number): void;
  /** Puts the name in; to be called when its row is there. */
  add(id: number): void;
  /** Brings the lists of n-grams up to date with all of it. */
  finish(): void;
}

export function openNameChanges(db: Sqlite, kind: NameKind): NameChanges {
  const memberCount = kind === "company" ? "thing.member_count" : "0";
  const findThing = db.prepare<{ name: string; memberCount: number }>(
    `SELECT name, ${memberCount} AS memberCount FROM ${kind} AS thing WHERE id = ?`,
  );
  const findNext = db.prepare<{ rank: number; id: number; folded: string; memberCount: number }>(
    `SELECT entry.rank, entry.id, entry.folded, ${memberCount} AS memberCount
       FROM ${kind}_name AS entry ${kind === "company" ? "JOIN company AS thing USING (id)" : ""}
      WHERE entry.rank >= ? ORDER BY entry.rank LIMIT 1`,
  );
  const listFrom = db.prepare<{ rank: number; folded: string }>(
    `SELECT rank, folded FROM ${kind}_name WHERE rank >= ? ORDER BY rank`,
  );
  const findFolded = db.prepare<{ folded: string }>(
    `SELECT folded FROM ${kind}_name WHERE rank = ?`,
  );
  const lastRank = db.prepare<{ rank: number | null }>(
    `SELECT max(rank) AS rank FROM ${kind}_name`,
  );
  const addEntry = db.prepare(`INSERT INTO ${kind}_name (rank, id, folded) VALUES (?, ?, ?)`);
  const removeEntry = db.prepare(`DELETE FROM ${kind}_name WHERE rank = ?`);
  const moveUp = db.prepare(`UPDATE ${kind}_name SET rank = rank + 1 WHERE rank = ?`);

  /** The folded name that the index has, or has not, at each rank that is no longer as it was. */
  const before = new Map<number, string | undefined>();
  /** Nothing is known of the ranks any more: the index will be built from the rows. */
  let isLost = false;
  let removed: (Key & { rank: number }) | undefined;

  function keyOf(id: number): Key | undefined {
    const thing = findThing.get(id);
    if (!thing) return undefined;
    const folded = fold(thing.name);
    return { id, folded, weight: weightOf[kind]({ folded, memberCount: thing.memberCount }) };
  }

  /** The lowest rank at which the name may stand: right after the one before it. */
  function findPlace({ id, weight }: Key): number {
    let low = 1;
    let high = (lastRank.get()?.rank ?? 0) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const next = findNext.get(middle);
      const isBefore = next && (weightOf[kind](next) - weight || next.id - id) < 0;
      if (isBefore) low = next.rank + 1;
      else high = middle;
    }
    return low;
  }

  function touch(rank: number, folded: string | undefined): void {
    if (!before.has(rank)) before.set(rank, folded);
  }

  /** Moves the names from `rank` on up to the next free rank by one. */
  function makeRoom(rank: number): void {
    const run: number[] = [];
    for (const entry of listFrom.iterate(rank)) {
      if (entry.rank !== rank + run.length) break;
      if (run.length === MAX_MOVES) {
        isLost = true;
        return;
      }
      touch(entry.rank, entry.folded);
      run.push(entry.rank);
    }
    touch(rank + run.length, undefined);
    for (const from of run.reverse()) moveUp.run(from);
  }

  function rebuild(): void {
    db.exec(`DELETE FROM ${kind}_name`);
    db.exec(`DELETE FROM ${kind}_frequent_ngram`);
    db.exec(`DELETE FROM ${kind}_long_list`);
    db.exec(`INSERT INTO ${kind}_ngram (${kind}_ngram) VALUES ('delete-all')`);
    buildNameIndex(db, kind);
  }

  return {
    remove(id) {
      const key = isLost ? undefined : keyOf(id);
      if (!key) return;
      const entry = findNext.get(findPlace(key));
      if (entry?.id !== id) throw new Error(`the search index does not have ${kind} ${id}`);
      touch(entry.rank, entry.folded);
      removeEntry.run(entry.rank);
      removed = { ...key, rank: entry.rank };
    },
    add(id) {
      const key = isLost ? undefined : keyOf(id);
      if (!key) return;
      const isSame =
        removed?.id === id && removed.folded === key.folded && removed.weight === key.weight;
      const rank = isSame && removed ? removed.rank : findPlace(key);
      if (!isSame) makeRoom(rank);
      if (isLost) return;
      touch(rank, undefined);
      addEntry.run(rank, id, key.folded);
    },
    finish() {
      const ranks = [...before]
        .map(([rank, from]) => ({ rank, from, to: findFolded.get(rank)?.folded }))
        .filter(({ from, to }) => from !== to)
        .sort((one, other) => one.rank - other.rank);
      if (!isLost && ranks.length === 0) return;
      const last = lastRank.get()?.rank ?? 0;
      if (isLost || ranks.length > last / REBUILD_SHARE || !changeNgrams(db, kind, ranks))
        rebuild();
    },
  };
}

/**
 * Replaces the n-grams of names by those of others, at ascending ranks. Returns false when the table of
 * frequent n-grams no longer fits the names, and the index must be built anew.
 */
function changeNgrams(
  db: Sqlite,
  kind: NameKind,
  ranks: { rank: number; from: string | undefined; to: string | undefined }[],
): boolean {
  const frequent = db
    .prepare<{ ngram: string; count: number; list: number | null }>(
      `SELECT ngram, count, list FROM ${kind}_frequent_ngram`,
    )
    .all();
  const counts = new Map(frequent.map(({ ngram, count }) => [ngram, count]));
  const isFrequent = (ngram: string) => counts.has(ngram);
  const lists = new Map(
    frequent.flatMap(({ ngram, list }) => (list === null ? [] : [[ngram, list] as const])),
  );
  const changed = new Set<string>();
  const grown = new Set<string>();
  function count(ngrams: string[], by: 1 | -1): void {
    for (const ngram of ngrams) {
      const former = counts.get(ngram);
      if (former === undefined) {
        if (by > 0) grown.add(ngram);
        continue;
      }
      counts.set(ngram, former + by);
      changed.add(ngram);
    }
  }

  const removeNgrams = db.prepare(
    `INSERT INTO ${kind}_ngram (${kind}_ngram, rowid, ngrams) VALUES ('delete', ?, ?)`,
  );
  const addNgrams = db.prepare(`INSERT INTO ${kind}_ngram (rowid, ngrams) VALUES (?, ?)`);
  const longLists = openLongListChanges(db, kind, lists);
  for (const { rank, from, to } of ranks) {
    if (from !== undefined) {
      const ngrams = ngramsOf(from, isFrequent);
      removeNgrams.run(rank, longLists.set(ngrams, rank, false).join(SEPARATOR));
      count(ngrams, -1);
    }
    if (to !== undefined) {
      const ngrams = ngramsOf(to, isFrequent);
      addNgrams.run(rank, longLists.set(ngrams, rank, true).join(SEPARATOR));
      count(ngrams, 1);
    }
  }
  longLists.finish();
  const names = db.prepare<{ count: number }>(`SELECT count(*) AS count FROM ${kind}_name`).get();
  const setCount = db.prepare(`UPDATE ${kind}_frequent_ngram SET count = ? WHERE ngram = ?`);
  for (const ngram of changed) {
    const left = counts.get(ngram) ?? 0;
    // What few or none have left would show who was there.
    if (left < FREQUENT_ABOVE / 2) return false;
    // FTS5 takes longer for a list that has grown long.
    if (!lists.has(ngram) && isLong(left / 2, names?.count ?? 0)) return false;
    setCount.run(left, ngram);
  }
  // Merges all lists into one segment: only then what was taken out is out of the file.
  db.exec(`INSERT INTO ${kind}_ngram (${kind}_ngram) VALUES ('optimize')`);
  const findAfter = db.prepare(
    `SELECT 1 FROM ${kind}_ngram WHERE ${kind}_ngram MATCH ? LIMIT 1 OFFSET ?`,
  );
  for (const ngram of grown) {
    if (findAfter.get(matchAll([ngram]), 2 * FREQUENT_ABOVE)) return false;
  }
  return true;
}
