/** Finds the names that match a query, best first. src/search/README.md has the rules. */
import { MAX_RESULTS, type NameKind } from "../domain/model.ts";
import type { Sqlite, Statement } from "../sqlite/driver.ts";
import { ftsQueryFor, ftsQueryForWords, isNgram, LATIN } from "./ngrams.ts";
import { idOfRow } from "./result-order.ts";
import { hasWords, tierOf, type WholeTier, wordsOf } from "./tiers.ts";

/**
 * If an index lists fewer names than this for a query, they are compared with it at once. Otherwise
 * each tier is looked up. Reading names is slow: with 40, the median search takes a third longer.
 */
const FEW = MAX_RESULTS + 1;

const wholeTiers: readonly WholeTier[] = [1, 2, 3, 4];

export class NameSearch {
  readonly #ids: Statement<{ id: number }>;
  readonly #names: Statement<{ id: number; folded: string }>;

  constructor(db: Sqlite, kind: NameKind) {
    const id = idOfRow[kind];
    const table = `${kind}_ngram`;
    // Without the plus, SQLite would compile the statement again for each limit.
    const found = `WHERE ${table} MATCH ? ORDER BY ngram.rowid LIMIT +?`;
    this.#ids = db.prepare(`SELECT ${id} AS id FROM ${table} AS ngram ${found}`);
    this.#names = db.prepare(`SELECT record.id, folded
      FROM ${table} AS ngram CROSS JOIN ${kind} AS record ON record.id = ${id} ${found}`);
  }

  /** Returns the ids of the best matches, best first. Takes the spellings of a query. */
  find(spellings: string[]): number[] {
    if (spellings.length === 0) return [];
    const hits = new Set<number>();

    if (spellings.every(isNgram)) this.#addProven(hits, spellings);
    else if (!this.#addFew(hits, spellings)) this.#addByTier(hits, spellings);
    if (!areEnough(hits)) this.#addByWords(hits, spellings);

    return [...hits].slice(0, MAX_RESULTS);
  }

  hasLatinSpellings(): boolean {
    return this.#ids.all(LATIN, 1).length > 0;
  }

  /** Adds the best matches of tiers 1 to 4 for n-grams, which match all names that list them. */
  #addProven(hits: Set<number>, spellings: string[]): void {
    for (const tier of wholeTiers) {
      const found = this.#ids.all(ftsQueryForAny(tier, spellings), MAX_RESULTS);
      for (const { id } of found) hits.add(id);
      if (areEnough(hits)) return;
    }
  }

  /** Adds all matches of tiers 1 to 4, unless there may be many. Returns whether it did. */
  #addFew(hits: Set<number>, spellings: string[]): boolean {
    const names = this.#names.all(ftsQueryForAny(4, spellings), FEW);
    if (names.length === FEW) return false;
    const byTier = Map.groupBy(names, ({ folded }) => bestTier(folded, spellings));
    for (const tier of wholeTiers) {
      for (const { id } of byTier.get(tier) ?? []) hits.add(id);
    }
    return true;
  }

  /** Adds the best matches of tiers 1 to 4. */
  #addByTier(hits: Set<number>, spellings: string[]): void {
    for (const tier of wholeTiers) {
      const matches = (folded: string) => bestTier(folded, spellings) <= tier;
      this.#addMatches(hits, ftsQueryForAny(tier, spellings), matches);
      if (areEnough(hits)) return;
    }
  }

  /** Adds matches of tier 5. */
  #addByWords(hits: Set<number>, spellings: string[]): void {
    const wordLists = spellings.map(wordsOf).filter(({ length }) => length > 0);
    if (wordLists.length === 0) return;
    const matches = (folded: string) => wordLists.some((words) => hasWords(folded, words));
    this.#addMatches(hits, anyOf(wordLists.map(ftsQueryForWords)), matches);
  }

  #addMatches(hits: Set<number>, ftsQuery: string, matches: (folded: string) => boolean): void {
    for (const { id, folded } of this.#names.iterate(ftsQuery, -1)) {
      if (matches(folded)) hits.add(id);
      if (areEnough(hits)) return;
    }
  }
}

/** Hits are in the order of results. */
const areEnough = (hits: Set<number>) => hits.size >= MAX_RESULTS;

/** Returns the FTS5 query for the names that any of the spellings finds in this tier. */
function ftsQueryForAny(tier: WholeTier, spellings: string[]): string {
  return anyOf(spellings.map((query) => ftsQueryFor(tier, query)));
}

const anyOf = (ftsQueries: string[]) => ftsQueries.map((each) => `(${each})`).join(" OR ");

/** Returns the best of tiers 1 to 4 in which any of the spellings matches, or Infinity. */
function bestTier(folded: string, spellings: string[]): number {
  return Math.min(...spellings.map((query) => tierOf(folded, query) ?? Infinity));
}
