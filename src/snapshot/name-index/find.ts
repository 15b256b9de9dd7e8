/**
 * Finds names: the ids of the best matches of a query, in the order of the contract. The index only
 * proposes candidates, in rank order; each is checked against its text before it counts.
 */
import { fold } from "../../search/fold.ts";
import { type Boundary, coverOf, END, type NgramTree, START, WORD } from "../../search/ngrams.ts";
import { MAX_QUERY_LENGTH, type Tier, tierOf, wordsOf } from "../../search/rank.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "./build.ts";

/**
 * Several words are looked up by so many of their n-grams, rarest first. Common n-grams have long lists,
 * and to read one more takes longer than to look at a few hundred names that have three of them;
 * words that come together ("ck", "er" and "tr" in a million truckers) leave more than that, and
 * then it is worth while.
 */
const FEW_NGRAMS = 3;
const MANY_NGRAMS = 8;
const MAX_CHECKED = 500;

interface Candidate {
  rank: number;
  id: number;
  folded: string;
}

export interface Names {
  /** The ids of at most `limit` names that match `query` (as the client wrote it), best first. */
  find(query: string, limit: number): number[];
}

export function openNames(db: Sqlite, kind: NameKind): Names {
  const findFrequentNgram = db.prepare<{ count: number }>(
    `SELECT count FROM ${kind}_frequent_ngram WHERE ngram = ?`,
  );
  const countOf = (ngram: string) => findFrequentNgram.get(ngram)?.count ?? 0;
  /** What is in the posting lists of all the n-grams, has a higher rank, and holds the text; in rank order. */
  const listCandidates = db.prepare<Candidate>(
    `SELECT name.rank, name.id, name.folded
       FROM ${kind}_ngram AS ngram JOIN ${kind}_name AS name ON name.rank = ngram.rowid
      WHERE ngram.${kind}_ngram MATCH ? AND ngram.rowid > ? AND instr(name.folded, ?) > 0
      ORDER BY ngram.rowid`,
  );
  /** Here an n-gram is a node by its own text. */
  const tree: NgramTree<string> = {
    root: (boundary) => boundary,
    child: (ngram, codePoint) => ngram + String.fromCodePoint(codePoint),
    isFrequent: (ngram) => countOf(ngram) > 0,
  };

  /** The n-grams to look up for names that hold all the words, rarest first. */
  function listWordNgrams(words: string[]): string[] {
    const ngrams = words
      .flatMap((word) => coverOf("", word, tree).ngrams)
      .map((ngram) => ({ ngram, count: countOf(ngram) }))
      .sort((one, other) => one.count - other.count);
    const chosen: string[] = [];
    for (const { ngram, count } of ngrams) {
      // Beside a short posting list, a long one takes longer to read than the names it would spare.
      if (count > 0 && ngrams[0]?.count === 0) break;
      // Whatever is in a longer n-gram's list has this n-gram too.
      if (!chosen.some((longer) => longer.includes(ngram))) chosen.push(ngram);
      if (chosen.length === MANY_NGRAMS) break;
    }
    return chosen;
  }

  function find(query: string, limit: number): number[] {
    const words = wordsOf(query);
    const hits = new Map<number, { rank: number; id: number; tier: Tier }>();

    /** Adds the candidates that match in `upTo` or a tier before it, until there are `enough`. */
    function addMatches(ngrams: string[], text: string, upTo: Tier, enough = limit): void {
      for (const { rank, id, folded } of listCandidates.iterate(matchAll(ngrams), 0, text)) {
        const tier = tierOf(folded, query, words);
        if (tier === undefined || tier > upTo) continue;
        hits.set(rank, { rank, id, tier });
        if (hits.size >= enough) return;
      }
    }

    /** Adds what matches by its words, until there are enough. */
    function addMatchesByWords(): void {
      const ngrams = listWordNgrams(words);
      let after = 0;
      for (const count of [FEW_NGRAMS, MANY_NGRAMS]) {
        const match = matchAll(ngrams.slice(0, count));
        let checked = 0;
        for (const { rank, id, folded } of listCandidates.iterate(match, after, "")) {
          const tier = tierOf(folded, query, words);
          if (tier !== undefined) hits.set(rank, { rank, id, tier });
          if (hits.size >= limit) return;
          after = rank;
          if (count < ngrams.length && ++checked === MAX_CHECKED) break;
        }
        if (checked < MAX_CHECKED) return;
      }
    }

    const anywhere = coverOf("", query, tree);
    if (anywhere.isFrequent) {
      // Too many to look at all of them: tier by tier, each from lists that hold little else.
      const places: [Tier, Boundary, string][] = [
        [1, START, query + END],
        [2, START, query],
        [3, WORD, query],
        [4, "", query],
      ];
      for (const [tier, boundary, text] of places) {
        if (hits.size < limit) addMatches(coverOf(boundary, text, tree).ngrams, query, tier);
      }
    } else {
      addMatches(anywhere.ngrams, query, 4, Number.POSITIVE_INFINITY);
    }

    if (hits.size < limit && words.length > 0) addMatchesByWords();
    return [...hits.values()]
      .sort((one, other) => one.tier - other.tier || one.rank - other.rank)
      .slice(0, limit)
      .map((hit) => hit.id);
  }

  return {
    find(text, limit) {
      if (text.length > MAX_QUERY_LENGTH) return [];
      const query = fold(text);
      return query === "" ? [] : find(query, limit);
    },
  };
}

/** FTS5 reads its own syntax outside quotes, so a quote inside an n-gram is doubled. */
function matchAll(ngrams: string[]): string {
  return ngrams.map((ngram) => `"${ngram.replaceAll('"', '""')}"`).join(" AND ");
}
