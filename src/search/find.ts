/** Finds the names that match a query, best first. src/search/README.md has the rules. */
import { MAX_RESULTS } from "../domain/model.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { type Candidate, type Cover, openCandidates } from "./candidates.ts";
import { type Boundary, START, WORD } from "./ngrams.ts";
import type { NameKind } from "./tables.ts";
import { hasWords, type Tier, tierOf, wordsOf } from "./tiers.ts";

const PLACES: { boundary: Boundary; tier: Tier }[] = [
  { boundary: START, tier: 2 },
  { boundary: WORD, tier: 3 },
  { boundary: "", tier: 4 },
];

export class NameSearch {
  readonly #candidates: ReturnType<typeof openCandidates>;

  constructor(db: Sqlite, kind: NameKind) {
    this.#candidates = openCandidates(db, kind);
  }

  /** Returns the ranks of the best matches, best first. Takes the spellings of one query. */
  find(queries: string[]): number[] {
    const { cover, list, listEqual } = this.#candidates;
    const hits = new Hits();
    /** Adds the names of a rare cover, which are few enough to compare them all. */
    function addRare(cover: Cover): boolean {
      if (!cover.isRare) return false;
      for (const { rank, folded } of list(cover)) hits.add(rank, tierOf(folded, cover.text));
      return true;
    }
    const frequent = queries.filter((query) => !addRare(cover("", query)));
    // Adds at least the best matches, tier by tier: the posting lists of a tier have few names of
    // other tiers.
    for (const { boundary, tier } of PLACES) {
      for (const query of frequent) {
        const match = (folded: string) => tierOf(folded, query);
        const place = cover(boundary, query);
        if (addRare(place)) continue;
        // A name that equals a query can come after many names that only begin with it: a company
        // with few members, or a user whose first spelling is longer.
        if (boundary === START) hits.addFirst(listEqual(query), match, 1);
        hits.addFirst(list(place), match, tier);
      }
      if (hits.areEnough(tier)) return hits.best();
    }
    for (const words of queries.map(wordsOf).filter(({ length }) => length > 0)) {
      const match = (folded: string) => (hasWords(folded, words) ? 5 : undefined);
      hits.addFirst(list(cover("", "", words)), match, 5);
    }
    return hits.best();
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
