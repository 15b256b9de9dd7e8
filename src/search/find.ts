/** Finds the names that match a query, best first. src/search/README.md has the rules. */
import { MAX_RESULTS } from "../domain/model.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { type Candidate, Candidates, type Cover } from "./candidates.ts";
import { type Boundary, START, WORD } from "./ngrams.ts";
import type { NameKind } from "./tables.ts";
import { hasWords, type Tier, tierOf, wordsOf } from "./tiers.ts";

const PLACES: { boundary: Boundary; tier: Tier }[] = [
  { boundary: START, tier: 2 },
  { boundary: WORD, tier: 3 },
  { boundary: "", tier: 4 },
];

export class NameSearch {
  readonly #candidates: Candidates;

  constructor(db: Sqlite, kind: NameKind) {
    this.#candidates = new Candidates(db, kind);
  }

  /** Returns the ranks of the best matches, best first. Takes the spellings of one query. */
  find(queries: string[]): number[] {
    const hits = new Hits();
    const covers = queries.map((query) => this.#candidates.cover("", query));
    this.#addRare(hits, covers);
    const frequent = covers.filter(({ isRare }) => !isRare);
    if (frequent.length > 0) this.#addTierByTier(hits, frequent);
    if (!hits.areEnough(4)) this.#addWords(hits, queries.map(wordsOf));
    return hits.best();
  }

  #addRare(hits: Hits, covers: Cover[]): void {
    for (const { rank, folded } of this.#candidates.listRare(covers)) {
      for (const { text } of covers) hits.add(rank, tierOf(folded, text));
    }
  }

  /**
   * For covers that match too many names to compare. Adds at least the best matches, tier by tier:
   * the posting lists of a tier have few names of other tiers.
   */
  #addTierByTier(hits: Hits, anywhere: Cover[]): void {
    for (const { boundary, tier } of PLACES) {
      const covers = anywhere.map((cover) =>
        boundary === "" ? cover : this.#candidates.cover(boundary, cover.text),
      );
      this.#addRare(hits, covers);
      const frequent = covers.filter(({ isRare }) => !isRare);
      // A name that equals a query can come after many names that only begin with it: a company with
      // few members, or a user whose first spelling is longer.
      if (boundary === START) {
        for (const { text } of frequent) {
          hits.addFirst(this.#candidates.listEqual(text), (folded) => tierOf(folded, text), 1);
        }
        if (hits.areEnough(1)) return;
      }
      for (const cover of frequent) {
        const match = (folded: string) => tierOf(folded, cover.text);
        hits.addFirst(this.#candidates.list(cover), match, tier);
      }
      if (hits.areEnough(tier)) return;
    }
  }

  /** Adds the best names in tier 5, and possibly more. Better tiers must be complete. */
  #addWords(hits: Hits, wordsOfQueries: string[][]): void {
    const searches = wordsOfQueries
      .filter((words) => words.length > 0)
      .map((words) => ({ words, cover: this.#candidates.cover("", "", words) }));
    for (const { rank, folded } of this.#candidates.listRare(searches.map(({ cover }) => cover))) {
      if (searches.some(({ words }) => hasWords(folded, words))) hits.add(rank, 5);
    }
    for (const { words, cover } of searches) {
      if (cover.isRare) continue;
      const match = (folded: string) => (hasWords(folded, words) ? 5 : undefined);
      hits.addFirst(this.#candidates.list(cover), match, 5);
    }
  }
}

class Hits {
  /** By rank. */
  readonly #tiers = new Map<number, Tier>();

  add(rank: number, tier: Tier | undefined): void {
    if (tier !== undefined && tier < (this.#tiers.get(rank) ?? 6)) this.#tiers.set(rank, tier);
  }

  /** Adds candidates in rank order, until ten of them match in tier `upTo` or better. */
  addFirst(
    candidates: Iterable<Candidate>,
    match: (folded: string) => Tier | undefined,
    upTo: Tier,
  ): void {
    let left = MAX_RESULTS;
    for (const { rank, folded } of candidates) {
      const tier = match(folded);
      this.add(rank, tier);
      if (tier !== undefined && tier <= upTo && --left === 0) return;
    }
  }

  areEnough(upTo: number): boolean {
    if (this.#tiers.size < MAX_RESULTS) return false;
    let count = 0;
    for (const tier of this.#tiers.values()) if (tier <= upTo) count++;
    return count >= MAX_RESULTS;
  }

  best(): number[] {
    return [...this.#tiers]
      .sort(([aRank, aTier], [bRank, bTier]) => aTier - bTier || aRank - bRank)
      .slice(0, MAX_RESULTS)
      .map(([rank]) => rank);
  }
}
