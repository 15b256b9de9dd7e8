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

/** A match of several words is looked up by this many grams at most. */
const MAX_WORD_GRAMS = 4;

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
  const findOpenGram = db.prepare(`SELECT 1 FROM ${kind}_open_gram WHERE gram = ?`);
  /** What is in the lists of all the grams and holds the text, in rank order. */
  const listCandidates = db.prepare<Candidate>(
    `SELECT name.rank, name.id, name.folded
       FROM ${kind}_gram AS gram JOIN ${kind}_name AS name ON name.rank = gram.rowid
      WHERE gram.${kind}_gram MATCH ? AND instr(name.folded, ?) > 0
      ORDER BY gram.rowid`,
  );
  /** Here a gram is a node by its own text. */
  const tree: GramTree<string> = {
    root: (mark) => mark,
    child: (gram, codePoint) => gram + String.fromCodePoint(codePoint),
    isOpen: (gram) => findOpenGram.get(gram) !== undefined,
  };

  function find(query: string, limit: number): number[] {
    const words = wordsOf(query);
    const hits = new Map<number, { rank: number; id: number; tier: Tier }>();

    /** Takes the candidates that match in `upTo` or a tier before it, until there are `enough`. */
    function take(grams: string[], text: string, upTo: Tier, enough = limit): void {
      for (const { rank, id, folded } of listCandidates.iterate(matchAll(grams), text)) {
        const tier = tierOf(folded, query, words);
        if (tier === undefined || tier > upTo) continue;
        hits.set(rank, { rank, id, tier });
        if (hits.size >= enough) return;
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

    if (hits.size < limit && words.length > 0) {
      const covers = words.map((word) => coverOf("", word, tree));
      const short = covers.filter((cover) => !cover.isOpen);
      const grams = (short.length > 0 ? short : covers).flatMap((cover) => cover.grams);
      const longest = words.reduce((one, other) => (other.length > one.length ? other : one));
      take(grams.slice(0, MAX_WORD_GRAMS), longest, 5);
    }
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
