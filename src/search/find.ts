/** Finds the names that match a query, best first. src/search/README.md has the rules. */
import { MAX_RESULTS, type NameKind } from "../domain/model.ts";
import type { Sqlite, Statement } from "../sqlite/driver.ts";
import { ftsQueryFor, ftsQueryForWords, isNgram, LATIN } from "./ngrams.ts";
import { idOfRow } from "./result-order.ts";
import { hasWords, type PlaceTier, tierOf, wordsOf } from "./tiers.ts";

/**
 * If an index lists fewer names than this for a query, they are compared with it at once. Otherwise
 * each tier is looked up. Reading names is slow: with 40, the median search takes a third longer.
 */
const FEW = MAX_RESULTS + 1;

const placeTiers: readonly PlaceTier[] = [1, 2, 3, 4];

export class NameSearch {
  readonly #ids: Statement<{ id: number }>;
  readonly #names: Statement<{ id: number; folded: string }>;

  constructor(db: Sqlite, kind: NameKind) {
    const id = idOfRow[kind];
    const table = `${kind}_ngram`;
    const found = `WHERE ${table} MATCH ? ORDER BY ngram.rowid LIMIT ?`;
    this.#ids = db.prepare(`SELECT ${id} AS id FROM ${table} AS ngram ${found}`);
    this.#names = db.prepare(`SELECT record.id, folded
      FROM ${table} AS ngram CROSS JOIN ${kind} AS record ON record.id = ${id} ${found}`);
  }

  /** Returns the ids of the best matches, best first. Takes the spellings of one query. */
  find(queries: string[]): number[] {
    if (queries.length === 0) return [];
    const hits = new Set<number>();

    if (queries.every(isNgram)) this.#addProven(hits, queries);
    else if (!this.#addFew(hits, queries)) this.#addByTier(hits, queries);
    if (!areEnough(hits)) this.#addByWords(hits, queries);

    return [...hits].slice(0, MAX_RESULTS);
  }

  hasLatinSpellings(): boolean {
    return this.#ids.all(LATIN, 1).length > 0;
  }

  /** Adds the best matches of tiers 1 to 4 for n-grams, which match all names that list them. */
  #addProven(hits: Set<number>, queries: string[]): void {
    for (const tier of placeTiers) {
      for (const { id } of this.#ids.all(ftsQueryForAny(tier, queries), MAX_RESULTS)) hits.add(id);
      if (areEnough(hits)) return;
    }
  }

  /** Adds all matches of tiers 1 to 4, unless there may be many. Returns whether it did. */
  #addFew(hits: Set<number>, queries: string[]): boolean {
    const names = this.#names.all(ftsQueryForAny(4, queries), FEW);
    if (names.length === FEW) return false;
    const byTier = Map.groupBy(names, ({ folded }) => bestTier(folded, queries));
    for (const tier of placeTiers) {
      for (const { id } of byTier.get(tier) ?? []) hits.add(id);
    }
    return true;
  }

  /** Adds the best matches of tiers 1 to 4. */
  #addByTier(hits: Set<number>, queries: string[]): void {
    for (const tier of placeTiers) {
      const matches = (folded: string) => bestTier(folded, queries) <= tier;
      this.#addMatches(hits, ftsQueryForAny(tier, queries), matches);
      if (areEnough(hits)) return;
    }
  }

  /** Adds matches of tier 5. */
  #addByWords(hits: Set<number>, queries: string[]): void {
    const spellings = queries.map(wordsOf).filter(({ length }) => length > 0);
    if (spellings.length === 0) return;
    const matches = (folded: string) => spellings.some((words) => hasWords(folded, words));
    this.#addMatches(hits, anyOf(spellings.map(ftsQueryForWords)), matches);
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

/** Returns the FTS5 query for the names that any of the queries finds in this tier. */
function ftsQueryForAny(tier: PlaceTier, queries: string[]): string {
  return anyOf(queries.map((query) => ftsQueryFor(tier, query)));
}

const anyOf = (ftsQueries: string[]) => ftsQueries.map((each) => `(${each})`).join(" OR ");

/** Returns the best of tiers 1 to 4 in which any of the queries matches, or Infinity. */
function bestTier(folded: string, queries: string[]): number {
  return Math.min(...queries.map((query) => tierOf(folded, query) ?? Infinity));
}
