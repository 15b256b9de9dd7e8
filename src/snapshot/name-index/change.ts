/**
 * Changes the search index of a snapshot name by name, so that afterwards it is one that
 * build.ts could have built: same order, no trace of a name that is gone, short posting lists short.
 * When that would take longer than building it anew, or cannot be had, it is built anew.
 */
import { ngramsOf, SEPARATOR } from "../../search/ngrams.ts";
import { spell } from "../../search/spellings.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "../format/schema.ts";
import { addNameSql, weightOf } from "./build.ts";
import { matchAll } from "./candidates.ts";
import { FREQUENT_ABOVE, MAX_MOVES, REBUILD_SHARE } from "./constants.ts";
import { isLong, openLongListChanges } from "./long-lists.ts";
import { mayEqualComeLate, openLongNames } from "./long-names.ts";

interface Name {
  id: number;
  folded: string;
  memberCount: number;
}

interface Entry extends Name {
  rank: number;
}

/** The folded name that the index had, and has, at a rank. */
interface Change {
  rank: number;
  from: string | undefined;
  to: string | undefined;
}

export function openNameChanges(db: Sqlite, kind: NameKind) {
  const memberCount = kind === "company" ? "member_count" : "0";
  const findRow = db.prepare<{ id: number; name: string; memberCount: number }>(
    `SELECT id, name, ${memberCount} AS memberCount FROM ${kind} WHERE id = ?`,
  );
  const listFrom = db.prepare<Entry>(
    `SELECT rank, id, folded, ${memberCount} AS memberCount FROM ${kind}_name
      WHERE rank >= ? ORDER BY rank`,
  );
  const findFolded = db.prepare<{ folded: string }>(
    `SELECT folded FROM ${kind}_name WHERE rank = ?`,
  );
  const lastRank = db.prepare<{ rank: number | null }>(
    `SELECT max(rank) AS rank FROM ${kind}_name`,
  );
  const addEntry = db.prepare(addNameSql(kind));
  const removeEntry = db.prepare(`DELETE FROM ${kind}_name WHERE rank = ?`);
  const moveUp = db.prepare(`UPDATE ${kind}_name SET rank = rank + 1 WHERE rank = ?`);

  const wasEqualLate = mayEqualComeLate(db, kind);
  const mostChanges = (lastRank.get()?.rank ?? 0) / REBUILD_SHARE;

  /** What was taken out, by id; of ids that had no name, nothing. */
  const taken = new Map<number, Entry | undefined>();
  /** The folded name that the index had, or had not, at each rank that may be no longer as it was. */
  const before = new Map<number, string | undefined>();

  /** As the row says. */
  function nameOf(id: number): Name | undefined {
    const row = findRow.get(id);
    return row ? { ...row, folded: spell(row.name) } : undefined;
  }

  /** The lowest rank at which the name may stand: right after the one before it. */
  function findPlace(name: Name): number {
    const weight = weightOf[kind](name);
    let low = 1;
    let high = (lastRank.get()?.rank ?? 0) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const next = listFrom.get(middle);
      const isBefore = next && (weightOf[kind](next) - weight || next.id - name.id) < 0;
      if (isBefore) low = next.rank + 1;
      else high = middle;
    }
    return low;
  }

  function touch(rank: number, folded: string | undefined): void {
    if (!before.has(rank)) before.set(rank, folded);
  }

  function add({ id, folded }: Name, rank: number): void {
    touch(rank, undefined);
    addEntry.run(rank, folded, id);
  }

  /** Moves the names from `rank` on up to the next free rank by one; returns false when that is far. */
  function makeRoom(rank: number): boolean {
    const run: Entry[] = [];
    for (const entry of listFrom.iterate(rank)) {
      if (entry.rank !== rank + run.length) break;
      if (run.length === MAX_MOVES) return false;
      run.push(entry);
    }
    touch(rank + run.length, undefined);
    for (const { rank, folded } of run.reverse()) {
      touch(rank, folded);
      moveUp.run(rank);
    }
    return true;
  }

  /** Puts the names in that there are now. Returns false when they are too many, or have no room. */
  function addAll(): boolean {
    const moved: Name[] = [];
    for (const [id, old] of taken) {
      const name = nameOf(id);
      if (!name) continue;
      if (old?.folded === name.folded && old.memberCount === name.memberCount) add(name, old.rank);
      else moved.push(name);
    }
    if (moved.length > mostChanges) return false;
    for (const name of moved) {
      const rank = findPlace(name);
      if (!makeRoom(rank)) return false;
      add(name, rank);
    }
    return true;
  }

  function update(): boolean {
    if (!addAll() || mayEqualComeLate(db, kind) !== wasEqualLate) return false;
    const changes = [...before]
      .map(([rank, from]) => ({ rank, from, to: findFolded.get(rank)?.folded }))
      .filter(({ from, to }) => from !== to)
      .sort((one, other) => one.rank - other.rank);
    if (changes.length === 0) return true;
    return changes.length <= mostChanges && changeNgrams(db, kind, changes);
  }

  return {
    /** To be called once for each id, before its row comes, goes or changes. */
    change(id: number): void {
      const name = nameOf(id);
      const entry = (name && listFrom.get(findPlace(name))) ?? undefined;
      if (entry?.id !== name?.id) throw new Error(`the search index does not have ${kind} ${id}`);
      taken.set(id, entry);
      if (!entry) return;
      touch(entry.rank, entry.folded);
      removeEntry.run(entry.rank);
    },
    /**
     * Brings the index up to date with the rows as they are then. Returns false when it must be built
     * again instead.
     */
    finish: update,
  };
}

/**
 * Replaces the n-grams of names by those of others, at ascending ranks. Returns false when the table of
 * frequent n-grams no longer fits the names, and the index must be built anew.
 */
function changeNgrams(db: Sqlite, kind: NameKind, changes: Change[]): boolean {
  const rows = db
    .prepare<{ ngram: string; count: number; list: number | null }>(
      `SELECT ngram, count, list FROM ${kind}_frequent_ngram`,
    )
    .all();
  const frequent = new Map(rows.map((row) => [row.ngram, row]));
  const changed = new Set<(typeof rows)[number]>();
  const grown = new Set<string>();
  const longNames = openLongNames(db, kind);
  const longLists = openLongListChanges(db, kind, (ngram) => frequent.get(ngram)?.list);
  // FTS5 takes the command "delete", or none.
  const changeRow = db.prepare(
    `INSERT INTO ${kind}_ngram (${kind}_ngram, rowid, ngrams) VALUES (?, ?, ?)`,
  );
  function change(rank: number, folded: string | undefined, isListed: boolean): void {
    if (folded === undefined) return;
    const ngrams = ngramsOf(folded, (ngram) => frequent.has(ngram));
    const short = longLists.set(ngrams, rank, isListed);
    changeRow.run(isListed ? null : "delete", rank, short.join(SEPARATOR));
    for (const ngram of ngrams) {
      const row = frequent.get(ngram);
      if (row) {
        row.count += isListed ? 1 : -1;
        changed.add(row);
      } else if (isListed) grown.add(ngram);
    }
  }
  for (const { rank, from, to } of changes) {
    change(rank, from, false);
    change(rank, to, true);
    if (from !== undefined) longNames?.remove(rank, from);
    if (to !== undefined) longNames?.add(rank, to);
  }
  longLists.finish();
  const names = db.prepare<{ count: number }>(`SELECT count(*) AS count FROM ${kind}_name`).get();
  const setCount = db.prepare(`UPDATE ${kind}_frequent_ngram SET count = ? WHERE ngram = ?`);
  for (const { ngram, count, list } of changed) {
    // What few or none have left would show who was there.
    if (count < FREQUENT_ABOVE / 2) return false;
    // FTS5 takes longer for a list that has grown long.
    if (list === null && isLong(count / 2, names?.count ?? 0)) return false;
    setCount.run(count, ngram);
  }
  // Merges all lists into one segment: only then what was taken out is out of the file.
  db.exec(`INSERT INTO ${kind}_ngram (${kind}_ngram) VALUES ('optimize')`);
  const findAfter = db.prepare(
    `SELECT 1 FROM ${kind}_ngram WHERE ${kind}_ngram MATCH ? LIMIT 1 OFFSET ?`,
  );
  return ![...grown].some((ngram) => findAfter.get(matchAll([ngram]), 2 * FREQUENT_ABOVE));
}
