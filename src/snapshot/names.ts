/**
 * Finds names: the ids of the best matches of a query, in the order of the contract. The index only
 * proposes candidates, in rank order; each is checked against its text before it counts.
 */
import { fold } from "../search/fold.ts";
import { coverOf, END, type GramTree, type Mark, START, WORD } from "../search/grams.ts";
import { type Tier, tierOf, wordsOf } from "../search/rank.ts";
import type { NameKind } from "./name-index.ts";
import type { Sqlite } from "./sqlite.ts";

/** No name has over 200 code points, so a query this long finds none and is not worth folding. */
const MAX_QUERY_LENGTH = 2_000;

/**
 * Several words are looked up by so many of their grams, rarest first. Common grams have long lists,
 * and to read one more takes longer than to look at a few hundred names that have three of them;
 * words that come together ("ck", "er" and "tr" in a million truckers) leave more than that, and
 * then it is worth while.
 */
const FEW_GRAMS = 3;
const MANY_GRAMS = 8;
const MAX_LOOKS = 500;

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
  const findOpenGram = db.prepare<{ count: number }>(
    `SELECT count FROM ${kind}_open_gram WHERE gram = ?`,
  );
  const countOf = (gram: string) => findOpenGram.get(gram)?.count ?? 0;
  /** What is in the lists of all the grams, has a higher rank, and holds the text; in rank order. */
  const listCandidates = db.prepare<Candidate>(
    `SELECT name.rank, name.id, name.folded
       FROM ${kind}_gram AS gram JOIN ${kind}_name AS name ON name.rank = gram.rowid
      WHERE gram.${kind}_gram MATCH ? AND gram.rowid > ? AND instr(name.folded, ?) > 0
      ORDER BY gram.rowid`,
  );
  /** Here a gram is a node by its own text. */
  const tree: GramTree<string> = {
    root: (mark) => mark,
    child: (gram, codePoint) => gram + String.fromCodePoint(codePoint),
    isOpen: (gram) => countOf(gram) > 0,
  };

  /** The grams to look up for names that hold all the words, rarest first. */
  function listWordGrams(words: string[]): string[] {
    const grams = words
      .flatMap((word) => coverOf("", word, tree).grams)
      .map((gram) => ({ gram, count: countOf(gram) }))
      .sort((one, other) => one.count - other.count);
    const chosen: string[] = [];
    for (const { gram, count } of grams) {
      // Beside a short list, a long one takes longer to read than the names it would spare.
      if (count > 0 && grams[0]?.count === 0) break;
      // Whatever is in a longer gram's list has this gram too.
      if (!chosen.some((longer) => longer.includes(gram))) chosen.push(gram);
      if (chosen.length === MANY_GRAMS) break;
    }
    return chosen;
  }

  function find(query: string, limit: number): number[] {
    const words = wordsOf(query);
    const hits = new Map<number, { rank: number; id: number; tier: Tier }>();

    /** Takes the candidates that match in `upTo` or a tier before it, until there are `enough`. */
    function take(grams: string[], text: string, upTo: Tier, enough = limit): void {
      for (const { rank, id, folded } of listCandidates.iterate(matchAll(grams), 0, text)) {
        const tier = tierOf(folded, query, words);
        if (tier === undefined || tier > upTo) continue;
        hits.set(rank, { rank, id, tier });
        if (hits.size >= enough) return;
      }
    }

    /** Takes what matches by its words, until there are enough. */
    function takeByWords(): void {
      const grams = listWordGrams(words);
      let after = 0;
      for (const count of [FEW_GRAMS, MANY_GRAMS]) {
        const match = matchAll(grams.slice(0, count));
        let looks = 0;
        for (const { rank, id, folded } of listCandidates.iterate(match, after, "")) {
          const tier = tierOf(folded, query, words);
          if (tier !== undefined) hits.set(rank, { rank, id, tier });
          if (hits.size >= limit) return;
          after = rank;
          if (count < grams.length && ++looks === MAX_LOOKS) break;
        }
        if (looks < MAX_LOOKS) return;
      }
    }

    const anywhere = coverOf("", query, tree);
    if (anywhere.isOpen) {
      // Too many to look at all of them: tier by tier, each from lists that hold little else.
      const places: [Tier, Mark, string][] = [
        [1, START, query + END],
        [2, START, query],
        [3, WORD, query],
        [4, "", query],
      ];
      for (const [tier, mark, text] of places) {
        if (hits.size < limit) take(coverOf(mark, text, tree).grams, query, tier);
      }
    } else {
      take(anywhere.grams, query, 4, Number.POSITIVE_INFINITY);
    }

    if (hits.size < limit && words.length > 0) takeByWords();
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

/** FTS5 reads its own syntax outside quotes, so a quote inside a gram is doubled. */
function matchAll(grams: string[]): string {
  return grams.map((gram) => `"${gram.replaceAll('"', '""')}"`).join(" AND ");
}
