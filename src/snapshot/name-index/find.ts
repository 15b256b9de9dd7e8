/**
 * Finds names: the ranks of the best matches of a query, in the order of the contract. The index only
 * proposes candidates, in rank order; each is checked against its text before it counts.
 */
import { LRUCache } from "lru-cache";
import { fold } from "../../search/fold.ts";
import { type Boundary, coverOf, END, MAX_NGRAM, START, WORD } from "../../search/ngrams.ts";
import { hasCodePoints, isTooLong, type Tier, tierOf, wordsOf } from "../../search/rank.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "../format/schema.ts";
import {
  KNOWN_NGRAMS,
  MAX_ALONE,
  MAX_RARE_LISTS,
  MAX_SHORT_LISTS,
  MAX_TOGETHER,
} from "./constants.ts";
import { openLongLists } from "./long-lists.ts";

interface Frequent {
  count: number;
  /** The number of its long list; null when its list is in FTS5. */
  list: number | null;
}

const RARE: Frequent = { count: 0, list: null };

interface Candidate {
  rank: number;
  folded: string;
}

export function openNames(db: Sqlite, kind: NameKind) {
  const findFrequentNgram = db.prepare<Frequent>(
    `SELECT count, list FROM ${kind}_frequent_ngram WHERE ngram = ?`,
  );
  const known = new LRUCache<string, Frequent>({
    max: KNOWN_NGRAMS,
    memoMethod: (ngram) => findFrequentNgram.get(ngram) ?? RARE,
  });
  const lookUp = (ngram: string) => known.memo(ngram);
  const countOf = (ngram: string) => lookUp(ngram).count;
  const intersectLists = openLongLists(db, kind);
  const findByRank = db.prepare<Candidate>(`SELECT rank, folded FROM ${kind}_name WHERE rank = ?`);
  /** Those of the ranks whose names hold the text, no later than at a position, in their order. */
  const listTogether = db.prepare<Candidate>(
    `SELECT name.rank, name.folded
       FROM json_each(?) AS listed CROSS JOIN ${kind}_name AS name ON name.rank = listed.value
      WHERE instr(name.folded, ?) BETWEEN 1 AND ?`,
  );
  /** What is in the short lists of all the n-grams and holds the text, in rank order. */
  const listByShort = db.prepare<Candidate>(
    `SELECT name.rank, name.folded
       FROM ${kind}_ngram AS ngram JOIN ${kind}_name AS name ON name.rank = ngram.rowid
      WHERE ngram.${kind}_ngram MATCH ? AND instr(name.folded, ?) > 0
      ORDER BY ngram.rowid`,
  );
  /** The ranks alone, as one value: so many rows would take ten times as long. */
  const listShort = db.prepare<{ ranks: string }>(
    `SELECT json_group_array(rank) AS ranks
       FROM (SELECT rowid AS rank FROM ${kind}_ngram WHERE ${kind}_ngram MATCH ? ORDER BY rowid)`,
  );
  /** Where the end of a name is in no n-gram: the rows of companies have an index of such names. */
  const listEqual = db.prepare<Candidate>(
    `SELECT rank, folded FROM ${kind}_name
      WHERE folded = ? AND length(folded) >= ${MAX_NGRAM} ORDER BY rank`,
  );
  const isFrequent = (ngram: string) => countOf(ngram) > 0;

  /** Those of the n-grams whose posting lists leave the fewest names to look at, rarest first. */
  function choose(ngrams: string[]): string[] {
    const counted = ngrams
      .map((ngram) => ({ ngram, count: countOf(ngram) }))
      .sort((one, other) => one.count - other.count);
    const chosen: string[] = [];
    for (const { ngram, count } of counted) {
      // Beside a short posting list, a long one takes longer to read than the names it would spare.
      if (counted[0]?.count === 0 && (count > 0 || chosen.length === MAX_RARE_LISTS)) break;
      // Whatever is in a longer n-gram's list has this n-gram too.
      if (!chosen.some((longer) => longer.includes(ngram))) chosen.push(ngram);
    }
    return chosen;
  }

  /**
   * The names in the posting lists of all the n-grams that may hold the text, in rank order; those that
   * begin with it, if the boundary is a name's start.
   */
  function listCandidates(
    cover: string[],
    text: string,
    boundary: Boundary = "",
  ): Iterable<Candidate> {
    const ngrams = choose(cover);
    const long = ngrams.flatMap((ngram) => lookUp(ngram).list ?? []);
    const short = ngrams.filter((ngram) => lookUp(ngram).list === null);
    const match = matchAll(short.slice(0, MAX_SHORT_LISTS));
    if (long.length === 0) return listByShort.iterate(match, text);
    const among: number[] | undefined =
      short.length > 0 ? JSON.parse(listShort.get(match)?.ranks ?? "[]") : undefined;
    return listByRank(intersectLists(long, among), text, boundary);
  }

  function* listByRank(
    ranks: Iterable<number>,
    text: string,
    boundary: Boundary,
  ): Generator<Candidate, void> {
    const lastPosition = boundary === START ? 1 : Number.MAX_SAFE_INTEGER;
    let alone = 0;
    let together: number[] = [];
    for (const rank of ranks) {
      if (alone < MAX_ALONE) {
        alone++;
        const candidate = findByRank.get(rank);
        if (candidate) yield candidate;
      } else if (together.push(rank) === MAX_TOGETHER) {
        yield* listTogether.iterate(JSON.stringify(together), text, lastPosition);
        together = [];
      }
    }
    if (together.length > 0) {
      yield* listTogether.iterate(JSON.stringify(together), text, lastPosition);
    }
  }

  /** The ranks of at most `limit` names that match `text` (as the client wrote it), best first. */
  function find(text: string, limit: number): number[] {
    const query = isTooLong(text) ? "" : fold(text);
    if (query === "") return [];
    const words = wordsOf(query);
    const hits = new Map<number, Tier>();

    /** Adds the candidates that match in `upTo` or a tier before it, until there are `enough`. */
    function addMatches(candidates: Iterable<Candidate>, upTo: Tier, enough = limit): void {
      for (const { rank, folded } of candidates) {
        const tier = tierOf(folded, query, words);
        if (tier === undefined || tier > upTo) continue;
        hits.set(rank, tier);
        if (hits.size >= enough) return;
      }
    }

    const anywhere = coverOf("", query, isFrequent);
    if (anywhere.every(isFrequent)) {
      // Too many to look at all of them: tier by tier, each from lists that hold little else.
      const places: [Tier, Boundary, string][] = [
        [2, START, query],
        [3, WORD, query],
        [4, "", query],
      ];
      // The users' names that equal the query are the first of those that begin with it.
      if (kind === "company") {
        if (hasCodePoints(query, MAX_NGRAM)) addMatches(listEqual.iterate(query), 1);
        else places.unshift([1, START, query + END]);
      }
      for (const [tier, boundary, text] of places) {
        if (hits.size >= limit) break;
        const cover = coverOf(boundary, text, isFrequent);
        addMatches(listCandidates(cover, query, boundary), tier);
      }
    } else {
      addMatches(listCandidates(anywhere, query), 4, Number.POSITIVE_INFINITY);
    }

    if (hits.size < limit && words.length > 0) {
      const cover = words.flatMap((word) => coverOf("", word, isFrequent));
      addMatches(listCandidates(cover, ""), 5);
    }
    return [...hits]
      .sort(([rank, tier], [otherRank, otherTier]) => tier - otherTier || rank - otherRank)
      .slice(0, limit)
      .map(([rank]) => rank);
  }

  return { find };
}

/** FTS5 reads its own syntax outside quotes, so a quote inside an n-gram is doubled. */
export function matchAll(ngrams: string[]): string {
  return ngrams.map((ngram) => `"${ngram.replaceAll('"', '""')}"`).join(" AND ");
}
