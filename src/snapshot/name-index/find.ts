/**
 * Finds names: the ranks of the best matches of a query, in the order of the contract. The index only
 * proposes candidates, in rank order; each is checked against its text before it counts.
 */
import { LRUCache } from "lru-cache";
import { type Boundary, coverOf, END, MAX_NGRAM, START, WORD } from "../../search/ngrams.ts";
import { hasCodePoints, isTooLong, type Tier, tierOf, wordsOf } from "../../search/rank.ts";
import { SPELLING_END, spellQuery } from "../../search/spellings.ts";
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
import { mayEqualComeLate } from "./long-names.ts";

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
  /** Those of the ranks whose names hold the text, in their order. */
  const prepareTogether = (spellings: string) =>
    db.prepare<Candidate>(
      `SELECT name.rank, name.folded
         FROM json_each(?) AS listed CROSS JOIN ${kind}_name AS name ON name.rank = listed.value
        WHERE instr(${spellings}, ?) > 0`,
    );
  const listTogether = prepareTogether("name.folded");
  /** Those with a spelling that begins with the text, which begins with the end of another. */
  const listBeginning = prepareTogether("char(10) || name.folded");
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
  const listLongEqual = db.prepare<Candidate>(
    `SELECT rank, folded FROM ${kind}_long_name WHERE folded = ? ORDER BY rank`,
  );
  const isEqualLate = mayEqualComeLate(db, kind);
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
    const isStart = boundary === START;
    const listMatching = (ranks: number[]) =>
      isStart
        ? listBeginning.iterate(JSON.stringify(ranks), SPELLING_END + text)
        : listTogether.iterate(JSON.stringify(ranks), text);
    let alone = 0;
    let together: number[] = [];
    for (const rank of ranks) {
      if (alone < MAX_ALONE) {
        alone++;
        const candidate = findByRank.get(rank);
        if (candidate) yield candidate;
      } else if (together.push(rank) === MAX_TOGETHER) {
        yield* listMatching(together);
        together = [];
      }
    }
    if (together.length > 0) yield* listMatching(together);
  }

  /** The ranks and tiers of at least the best `limit` names that match a spelling of a query. */
  function findSpelling(query: string, limit: number): Map<number, Tier> {
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
      if (isEqualLate) {
        if (hasCodePoints(query, MAX_NGRAM)) addMatches(listLongEqual.iterate(query), 1);
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
    return hits;
  }

  /** The ranks of at most `limit` names that match `text` (as the client wrote it), best first. */
  function find(text: string, limit: number): number[] {
    const hits = new Map<number, number>();
    for (const query of isTooLong(text) ? [] : spellQuery(text)) {
      for (const [rank, tier] of findSpelling(query, limit)) {
        hits.set(rank, Math.min(tier, hits.get(rank) ?? tier));
      }
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
