/**
 * Finds the names that match a query, best first. README.md has the rules. The query `Ивано`:
 *
 * 1. It has two spellings, `ивано` and `ivano`, and a name such as Иванова has them, too.
 * 2. The name index finds the names that have the rarer n-grams of a spelling, best first. Not all of
 *    them contain the spelling, so SQLite compares them. The first ten match in tiers 1 to 4.
 * 3. If there are ten, others may match in a better tier. So the next lookups are for names that also
 *    have the mark of a tier, such as START before the first n-gram of the query.
 * 4. If there are fewer than ten, names with all its words would follow if it had several words, and then
 *    loose matches follow.
 *
 * A query such as `ив` is an n-gram itself, so the names that are found need not be compared.
 */
import { MAX_RESULTS, type NameKind } from "../domain/model.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { spellQuery } from "./fold.ts";
import { IndexReader } from "./index-reader.ts";
import { eachOf, lookUpLoosely, lookUpTier, lookUpWords } from "./lookups.ts";
import { matchesLoosely, spellLoosely } from "./loose.ts";
import { isNgram, OTHER_SCRIPT } from "./ngrams.ts";
import { listSimilar } from "./similar.ts";
import { hasWords, requiredWordsOf, tierOf, type WholeTier } from "./tiers.ts";

const wholeTiers: readonly WholeTier[] = [1, 2, 3, 4];

/** Few, because making keys takes long, and nearly all names that are found for a loose query match. */
const MAX_LOOSELY_COMPARED = 100;

/** The id of a name, or where a search can pause. */
type Match = number | "pause";

export class NameSearch {
  readonly #reader: IndexReader;

  constructor(client: Sqlite, kind: NameKind) {
    this.#reader = new IndexReader(client, kind);
  }

  /**
   * Returns the ids of the best matches, best first. Takes a normalized query. Yields where a search for
   * several words can pause, so that it does not hold up others.
   */
  *find(query: string): Generator<void, number[]> {
    const found = new Set<number>();
    for (const match of this.#listMatches(query)) {
      if (match === "pause") yield;
      else found.add(match);
      if (found.size === MAX_RESULTS) break;
    }
    return [...found];
  }

  /** Returns up to three names that differ from a query by a slip or two, the nearest first. */
  listSimilar(query: string) {
    return listSimilar(this.#reader, query);
  }

  /** Whether some names in other scripts are found by their Latin spellings. */
  hasOtherScripts(): boolean {
    return this.#reader.listIds([eachOf([OTHER_SCRIPT])], 1).length > 0;
  }

  /** Yields matches, best first, and some of them again. Looks for further ones only if asked for them. */
  *#listMatches(query: string): Generator<Match, void> {
    const spellings = spellQuery(query);
    if (spellings.length === 0) return;
    if (spellings.every(isNgram)) yield* this.#listProven(spellings);
    else yield* this.#listWhole(spellings);
    yield* this.#listWithWords(spellings);
    yield* this.#listLoose(query, spellings);
  }

  /** Yields matches in tiers 1 to 4 of n-grams, for which all names that are found match. */
  *#listProven(spellings: string[]): Generator<number, void> {
    for (const tier of wholeTiers)
      yield* this.#reader.listIds(this.#lookUp(tier, spellings), MAX_RESULTS);
  }

  /** Yields matches in tiers 1 to 4. */
  *#listWhole(spellings: string[]): Generator<number, void> {
    // The first of all matches: those in tier 4, unless a better tier has enough.
    const first = this.#reader.listNames(spellings, this.#lookUp(4, spellings), MAX_RESULTS);
    if (first.length === MAX_RESULTS) {
      for (const tier of [1, 2, 3] as const) {
        const names = this.#reader.readNames(spellings, this.#lookUp(tier, spellings));
        for (const { id, folded } of names) if (bestTier(folded, spellings) <= tier) yield id;
      }
    }
    const byTier = Map.groupBy(first, ({ folded }) => bestTier(folded, spellings));
    for (const tier of wholeTiers) {
      for (const { id } of byTier.get(tier) ?? []) yield id;
    }
  }

  #lookUp(tier: WholeTier, spellings: string[]) {
    return spellings.map((spelling) => lookUpTier(tier, spelling, this.#reader.vocabulary));
  }

  /** Yields matches in tier 5. */
  *#listWithWords(spellings: string[]): Generator<Match, void> {
    const wordLists = spellings.map(requiredWordsOf).filter(({ length }) => length > 0);
    if (wordLists.length === 0) return;
    const lookups = wordLists.map((words) => lookUpWords(words, this.#reader.vocabulary));
    for (const name of this.#reader.readWithPauses(wordLists.map(longestOf), lookups)) {
      if (name === "pause") yield name;
      else if (wordLists.some((words) => hasWords(name.folded, words))) yield name.id;
    }
  }

  /** Yields matches in tier 6. */
  *#listLoose(query: string, spellings: string[]): Generator<number, void> {
    const loose = spellLoosely(query, spellings);
    const lookups = lookUpLoosely(loose, this.#reader.vocabulary);
    if (lookups.length === 0) return;
    for (const name of this.#reader.listNames([], lookups, MAX_LOOSELY_COMPARED)) {
      if (matchesLoosely(name, loose)) yield name.id;
    }
  }
}

const longestOf = (words: string[]) => words.reduce((a, b) => (b.length > a.length ? b : a));

/** Returns the best of tiers 1 to 4 in which any of the spellings matches, or Infinity. */
function bestTier(folded: string, spellings: string[]): number {
  return Math.min(...spellings.map((query) => tierOf(folded, query) ?? Infinity));
}
