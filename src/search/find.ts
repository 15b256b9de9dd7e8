/** Finds the names that match a query, best first. src/search/README.md has the rules. */
import { MAX_RESULTS } from "../domain/model.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { type Candidate, openCandidates } from "./candidates.ts";
import { START, WORD } from "./ngrams.ts";
import type { NameKind } from "./tables.ts";
import { hasWords, type Tier, tierOf, wordsOf } from "./tiers.ts";

/** Tiers 2, 3 and 4 have posting lists of their own, for n-grams after these boundaries. */
const BOUNDARIES = [START, WORD, ""] as const;

export class NameSearch {
  readonly #candidates: ReturnType<typeof openCandidates>;

  constructor(db: Sqlite, kind: NameKind) {
    this.#candidates = openCandidates(db, kind);
  }

  /** Returns the ranks of the best matches, best first. Takes the spellings of one query. */
  find(queries: string[]): number[] {
    const { cover, list, listEqual } = this.#candidates;
    const hits = new Hits();
    const matcherOf = (query: string) => (folded: string) => tierOf(folded, query);
    const frequent = queries.filter((query) => {
      const anywhere = cover("", query);
      if (anywhere.isRare) hits.add(list(anywhere), matcherOf(query));
      return !anywhere.isRare;
    });
    // Adds at least the best matches, tier by tier: the posting lists of a tier have few names of
    // other tiers.
    for (const [at, boundary] of BOUNDARIES.entries()) {
      const tier = at + 2;
      for (const query of frequent) {
        const match = matcherOf(query);
        const place = cover(boundary, query);
        if (place.isRare) hits.add(list(place), match);
        else {
          // A name that equals a query can come after many names that only begin with it: a company
          // with few members, or a user whose first spelling is longer.
          if (boundary === START) hits.add(listEqual(query), match, 1);
          hits.add(list(place), match, tier);
        }
      }
      if (hits.areEnough(tier)) return hits.best();
    }
    for (const words of queries.map(wordsOf).filter(({ length }) => length > 0)) {
      const match = (folded: string) => (hasWords(folded, words) ? 5 : undefined);
      hits.add(list(cover("", "", words)), match, 5);
    }
    return hits.best();
  }
}

type Match = (folded: string) => Tier | undefined;

class Hits {
  /** By rank. */
  readonly #tiers = new Map<number, Tier>();

  /** Adds candidates in rank order: all, or until ten of them match in tier `upTo` or better. */
  add(candidates: Iterable<Candidate>, match: Match, upTo = 0): void {
    let left = MAX_RESULTS;
    for (const { rank, folded } of candidates) {
      const tier = match(folded);
      if (tier === undefined) continue;
      if (tier < (this.#tiers.get(rank) ?? 6)) this.#tiers.set(rank, tier);
      if (tier <= upTo && --left === 0) return;
    }
  }

  areEnough(upTo: number): boolean {
    return [...this.#tiers.values()].filter((tier) => tier <= upTo).length >= MAX_RESULTS;
  }

  best(): number[] {
    return [...this.#tiers]
      .sort(([aRank, aTier], [bRank, bTier]) => aTier - bTier || aRank - bRank)
      .slice(0, MAX_RESULTS)
      .map(([rank]) => rank);
  }
}
