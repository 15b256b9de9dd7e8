/**
 * Finds names: the ids of the best matches of a query, in the order of the contract. The index only
 * proposes candidates, in rank order; each is checked against its text before it counts.
 */
import { fold } from "../../search/fold.ts";
import { type Boundary, coverOf, END, START, WORD } from "../../search/ngrams.ts";
import { isTooLong, type Tier, tierOf, wordsOf } from "../../search/rank.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "./build.ts";
import { openLongLists } from "./long-lists.ts";

/**
 * Several words are looked up by so many of their n-grams at most, rarest first: hardly a name has more.
 * FTS5 reads all of every list, so it intersects fewer; and of n-grams that are not frequent a few
 * leave less to look at than another list has.
 */
const MAX_NGRAMS = 64;
const MAX_SHORT_LISTS = 8;
const MAX_RARE_LISTS = 3;

interface Frequent {
  count: number;
  /** The number of its long list; null when its list is in FTS5. */
  list: number | null;
}

const RARE: Frequent = { count: 0, list: null };

interface Candidate {
  rank: number;
  id: number;
  folded: string;
}

export function openNames(db: Sqlite, kind: NameKind) {
  const findFrequentNgram = db.prepare<Frequent>(
    `SELECT count, list FROM ${kind}_frequent_ngram WHERE ngram = ?`,
  );
  /** What was asked for in this query: most n-grams are more than once. */
  const known = new Map<string, Frequent>();
  function lookUp(ngram: string): Frequent {
    const frequent = known.get(ngram) ?? findFrequentNgram.get(ngram) ?? RARE;
    known.set(ngram, frequent);
    return frequent;
  }
  const countOf = (ngram: string) => lookUp(ngram).count;
  const intersectLists = openLongLists(db, kind);
  const findByRank = db.prepare<Candidate>(
    `SELECT rank, id, folded FROM ${kind}_name WHERE rank = ?`,
  );
  /** What is in the short lists of all the n-grams and holds the text, in rank order. */
  const listByShort = db.prepare<Candidate>(
    `SELECT name.rank, name.id, name.folded
       FROM ${kind}_ngram AS ngram JOIN ${kind}_name AS name ON name.rank = ngram.rowid
      WHERE ngram.${kind}_ngram MATCH ? AND instr(name.folded, ?) > 0
      ORDER BY ngram.rowid`,
  );
  /** The ranks alone, as one value: so many rows would take ten times as long. */
  const listShort = db.prepare<{ ranks: string }>(
    `SELECT json_group_array(rank) AS ranks
       FROM (SELECT rowid AS rank FROM ${kind}_ngram WHERE ${kind}_ngram MATCH ? ORDER BY rowid)`,
  );
  const isFrequent = (ngram: string) => countOf(ngram) > 0;

  /** The n-grams to look up for names that hold all the words, rarest first. */
  function listWordNgrams(words: string[]): string[] {
    const ngrams = words
      .flatMap((word) => coverOf("", word, isFrequent))
      .map((ngram) => ({ ngram, count: countOf(ngram) }))
      .sort((one, other) => one.count - other.count);
    const chosen: string[] = [];
    for (const { ngram, count } of ngrams) {
      // Beside a short posting list, a long one takes longer to read than the names it would spare.
      if (ngrams[0]?.count === 0 && (count > 0 || chosen.length === MAX_RARE_LISTS)) break;
      // Whatever is in a longer n-gram's list has this n-gram too.
      if (!chosen.some((longer) => longer.includes(ngram))) chosen.push(ngram);
      if (chosen.length === MAX_NGRAMS) break;
    }
    return chosen;
  }

  /** The names in the posting lists of all the n-grams that may hold the text, in rank order. */
  function listCandidates(ngrams: string[], text: string): Iterable<Candidate> {
    const long = ngrams.flatMap((ngram) => lookUp(ngram).list ?? []);
    const short = ngrams.filter((ngram) => lookUp(ngram).list === null);
    const match = matchAll(short.slice(0, MAX_SHORT_LISTS));
    if (long.length === 0) return listByShort.iterate(match, text);
    const among: number[] | undefined =
      short.length > 0 ? JSON.parse(listShort.get(match)?.ranks ?? "[]") : undefined;
    return listByRank(intersectLists(long, among));
  }

  function* listByRank(ranks: Iterable<number>): Generator<Candidate, void> {
    for (const rank of ranks) {
      const candidate = findByRank.get(rank);
      if (candidate) yield candidate;
    }
  }

  /** The ids of at most `limit` names that match `text` (as the client wrote it), best first. */
  function find(text: string, limit: number): number[] {
    const query = isTooLong(text) ? "" : fold(text);
    if (query === "") return [];
    known.clear();
    const words = wordsOf(query);
    const hits = new Map<number, { rank: number; id: number; tier: Tier }>();

    /** Adds the candidates that match in `upTo` or a tier before it, until there are `enough`. */
    function addMatches(ngrams: string[], text: string, upTo: Tier, enough = limit): void {
      for (const { rank, id, folded } of listCandidates(ngrams, text)) {
        const tier = tierOf(folded, query, words);
        if (tier === undefined || tier > upTo) continue;
        hits.set(rank, { rank, id, tier });
        if (hits.size >= enough) return;
      }
    }

    const anywhere = coverOf("", query, isFrequent);
    if (anywhere.some(isFrequent)) {
      // Too many to look at all of them: tier by tier, each from lists that hold little else.
      const places: [Tier, Boundary, string][] = [
        [1, START, query + END],
        [2, START, query],
        [3, WORD, query],
        [4, "", query],
      ];
      for (const [tier, boundary, text] of places) {
        if (hits.size < limit) addMatches(coverOf(boundary, text, isFrequent), query, tier);
      }
    } else {
      addMatches(anywhere, query, 4, Number.POSITIVE_INFINITY);
    }

    if (hits.size < limit && words.length > 0) addMatches(listWordNgrams(words), "", 5);
    return [...hits.values()]
      .sort((one, other) => one.tier - other.tier || one.rank - other.rank)
      .slice(0, limit)
      .map((hit) => hit.id);
  }

  return { find };
}

/** FTS5 reads its own syntax outside quotes, so a quote inside an n-gram is doubled. */
export function matchAll(ngrams: string[]): string {
  return ngrams.map((ngram) => `"${ngram.replaceAll('"', '""')}"`).join(" AND ");
}
