/** Changes the search index of a snapshot one name at a time, and leaves no trace of old names. */
import type { Sqlite } from "../sqlite/driver.ts";
import { addNameSql, openLongNames, sortKeyOf } from "./build.ts";
import { matchAll } from "./candidates.ts";
import { spell } from "./fold.ts";
import { isLong, openLongListChanges } from "./long-lists.ts";
import { ngramsOf, SEPARATOR } from "./ngrams.ts";
import { memberCountSql, type NameKind } from "./tables.ts";
import { FREQUENT_ABOVE, MAX_MOVES, REBUILD_SHARE } from "./tuning.ts";

type Name = { id: number; folded: string; memberCount: number };
type Entry = Name & { rank: number };
type FrequentNgram = { ngram: string; count: number; list: number | null };

export function openNameChanges(db: Sqlite, kind: NameKind, rebuildShare = REBUILD_SHARE) {
  // FTS5 removes an entry at once, instead of only marking it as no longer valid.
  db.exec(`INSERT INTO ${kind}_ngram (${kind}_ngram, rank) VALUES ('secure-delete', 1)`);
  const memberCount = memberCountSql[kind];
  const sql = {
    findRow: db.prepare<{ id: number; name: string; memberCount: number }>(
      `SELECT id, name, ${memberCount} AS memberCount FROM ${kind} WHERE id = ?`,
    ),
    listFrom: db.prepare<Entry>(
      `SELECT rank, id, folded, ${memberCount} AS memberCount FROM ${kind}_name
        WHERE rank >= ? ORDER BY rank`,
    ),
    findFolded: db.prepare<{ folded: string }>(`SELECT folded FROM ${kind}_name WHERE rank = ?`),
    lastRank: db.prepare<{ rank: number | null }>(`SELECT max(rank) AS rank FROM ${kind}_name`),
    addEntry: db.prepare(addNameSql[kind]),
    removeEntry: db.prepare(`DELETE FROM ${kind}_name WHERE rank = ?`),
    moveUp: db.prepare(`UPDATE ${kind}_name SET rank = rank + 1 WHERE rank = ?`),
  };
  const lastRank = () => sql.lastRank.get()?.rank ?? 0;
  const maxChanges = lastRank() / rebuildShare;
  /** The entries to remove or keep, by id; undefined if the id had no name. */
  const entries = new Map<number, Entry | undefined>();
  /** The folded name at each changed rank, or undefined if the rank was free. */
  const before = new Map<number, string | undefined>();

  function recordBefore(rank: number, folded: string | undefined): void {
    if (!before.has(rank)) before.set(rank, folded);
  }

  function nameOf(id: number): Name | undefined {
    const row = sql.findRow.get(id);
    return row ? { ...row, folded: spell(row.name) } : undefined;
  }

  /** Returns the lowest rank that fits a name: one above the rank of the name before it. */
  function findRank(name: Name): number {
    const sortKey = sortKeyOf(kind, name);
    let low = 1;
    let high = lastRank() + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const next = sql.listFrom.get(middle);
      const isBefore = next && (sortKeyOf(kind, next) - sortKey || next.id - name.id) < 0;
      if (isBefore) low = next.rank + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Frees `rank` by moving each name from there to the next gap up by one rank. Returns false if
   * these are too many names.
   */
  function makeRoom(rank: number): boolean {
    const run: Entry[] = [];
    for (const entry of sql.listFrom.iterate(rank)) {
      if (entry.rank !== rank + run.length) break;
      if (run.length === MAX_MOVES) return false;
      run.push(entry);
    }
    recordBefore(rank + run.length, undefined);
    for (const { rank, folded } of run.reverse()) {
      recordBefore(rank, folded);
      sql.moveUp.run(rank);
    }
    return true;
  }

  return {
    /** Must be called once per id, before the row with this id is added, changed or removed. */
    change(id: number): void {
      const name = nameOf(id);
      const entry = (name && sql.listFrom.get(findRank(name))) ?? undefined;
      if (entry?.id !== name?.id) throw new Error(`the search index has no ${kind} ${id}`);
      entries.set(id, entry);
    },

    /** Updates the index to match the rows. Returns false if it must be rebuilt instead. */
    finish(): boolean {
      const added: Name[] = [];
      for (const [id, old] of entries) {
        const name = nameOf(id);
        if (old && old.folded === name?.folded && old.memberCount === name.memberCount) continue;
        if (name) added.push(name);
        if (!old) continue;
        recordBefore(old.rank, old.folded);
        sql.removeEntry.run(old.rank);
      }
      if (added.length > maxChanges) return false;
      for (const name of added) {
        const rank = findRank(name);
        if (!makeRoom(rank)) return false;
        sql.addEntry.run(rank, name.folded, name.id);
      }
      const changes = [...before]
        .map(([rank, before]) => ({ rank, before, after: sql.findFolded.get(rank)?.folded }))
        .filter(({ before, after }) => before !== after)
        .sort((a, b) => a.rank - b.rank);
      if (changes.length === 0) return true;
      return changes.length <= maxChanges && changeNgrams(db, kind, changes);
    },
  };
}

/** Applies changes in rank order. Returns false if other n-grams should be frequent by now. */
function changeNgrams(
  db: Sqlite,
  kind: NameKind,
  changes: { rank: number; before: string | undefined; after: string | undefined }[],
): boolean {
  const rows = db
    .prepare<FrequentNgram>(`SELECT ngram, count, list FROM ${kind}_frequent_ngram`)
    .all();
  const frequent = new Map(rows.map((row) => [row.ngram, row]));
  const changed = new Set<FrequentNgram>();
  const grownRare = new Set<string>();
  const changeLongNames = openLongNames(db, kind);
  const longLists = openLongListChanges(db, kind);
  // With null in the first column, this adds a row; with "delete", it removes the row.
  const changeRow = db.prepare(
    `INSERT INTO ${kind}_ngram (${kind}_ngram, rowid, ngrams) VALUES (?, ?, ?)`,
  );
  function change(rank: number, folded: string | undefined, isListed: boolean): void {
    if (folded === undefined) return;
    changeLongNames(rank, folded, isListed);
    const inFts5: string[] = [];
    for (const ngram of ngramsOf(folded, (ngram) => frequent.has(ngram))) {
      const row = frequent.get(ngram);
      const list = row?.list ?? null;
      if (list === null) inFts5.push(ngram);
      else longLists.set(list, rank, isListed);
      if (row) {
        row.count += isListed ? 1 : -1;
        changed.add(row);
      } else if (isListed) grownRare.add(ngram);
    }
    changeRow.run(isListed ? null : "delete", rank, inFts5.join(SEPARATOR));
  }
  for (const { rank, before, after } of changes) {
    change(rank, before, false);
    change(rank, after, true);
  }
  longLists.finish();
  const names = db.prepare<{ count: number }>(`SELECT count(*) AS count FROM ${kind}_name`).get();
  const setCount = db.prepare(`UPDATE ${kind}_frequent_ngram SET count = ? WHERE ngram = ?`);
  for (const { ngram, count, list } of changed) {
    // The entry of a frequent n-gram that only a few names still have would reveal removed names.
    if (count < FREQUENT_ABOVE / 2) return false;
    // FTS5 is too slow for a posting list that has become long.
    if (list === null && isLong(count / 2, names?.count ?? 0)) return false;
    setCount.run(count, ngram);
  }
  const findAfter = db.prepare(
    `SELECT 1 FROM ${kind}_ngram WHERE ${kind}_ngram MATCH ? LIMIT 1 OFFSET ?`,
  );
  return ![...grownRare].some((ngram) => findAfter.get(matchAll([ngram]), 2 * FREQUENT_ABOVE));
}
