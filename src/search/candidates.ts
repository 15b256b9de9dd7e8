/**
 * Reads the candidates of a search in rank order: the names in the posting lists of the query's
 * n-grams. A candidate might not match the query, so find.ts compares the two.
 */
import { LRUCache } from "lru-cache";
import { MAX_RESULTS } from "../domain/model.ts";
import { hasCodePoints } from "../domain/text.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { openLongLists } from "./long-lists.ts";
import { type Boundary, coveringNgrams, END, START } from "./ngrams.ts";
import type { NameKind } from "./tables.ts";
import { KNOWN_NGRAMS, MAX_BATCH, MAX_NGRAM, MAX_RARE_LISTS, MAX_SHORT_LISTS } from "./tuning.ts";

export interface Candidate {
  rank: number;
  /** All spellings of the name, folded. */
  folded: string;
}

/** N-grams in every name that has the text after the boundary. */
export interface Cover {
  /** Empty for words. */
  text: string;
  ngrams: string[];
  /** Whether at least one of the n-grams is rare, in which case there are few candidates. */
  isRare: boolean;
}

interface Frequency {
  /** 0 if the n-gram is rare. */
  count: number;
  /** The number of the n-gram's long list, or null if its posting list is in FTS5. */
  list: number | null;
}

export function openCandidates(db: Sqlite, kind: NameKind) {
  const sql = {
    findFrequentNgram: db.prepare<Frequency>(
      `SELECT count, list FROM ${kind}_frequent_ngram WHERE ngram = ?`,
    ),
    listAmong: db.prepare<Candidate>(
      `SELECT name.rank, name.folded
         FROM json_each(?) AS listed CROSS JOIN ${kind}_name AS name ON name.rank = listed.value
        WHERE instr(name.folded, ?) > 0`,
    ),
    listByShort: db.prepare<Candidate>(
      `SELECT name.rank, name.folded
         FROM ${kind}_ngram AS ngram JOIN ${kind}_name AS name ON name.rank = ngram.rowid
        WHERE ngram.${kind}_ngram MATCH ? AND instr(name.folded, ?) > 0
        ORDER BY ngram.rowid`,
    ),
    /** Reads only the ranks, as one value. Reading them as rows takes ten times as long. */
    listShort: db.prepare<{ ranks: string }>(
      `SELECT json_group_array(rank) AS ranks
         FROM (SELECT rowid AS rank FROM ${kind}_ngram WHERE ${kind}_ngram MATCH ? ORDER BY rowid)`,
    ),
    listLongEqual: db.prepare<Candidate>(
      `SELECT rank, folded FROM ${kind}_long_name WHERE folded = ? ORDER BY rank`,
    ),
  };
  const longLists = openLongLists(db, kind);
  const frequencies = new LRUCache<string, Frequency>({
    max: KNOWN_NGRAMS,
    memoMethod: (ngram) => sql.findFrequentNgram.get(ngram) ?? { count: 0, list: null },
  });
  const isFrequent = (ngram: string) => frequencies.memo(ngram).count > 0;

  /** Covers `text`, or else all the words, each of which may be anywhere in a name. */
  function cover(boundary: Boundary, text: string, words = [text]): Cover {
    const ngrams = words.flatMap((word) => coveringNgrams(boundary, word, isFrequent));
    return { text, ngrams, isRare: !ngrams.every(isFrequent) };
  }

  function list({ text, ngrams, isRare }: Cover): Iterable<Candidate> {
    const chosen = choose(ngrams);
    const long = chosen.flatMap((ngram) => frequencies.memo(ngram).list ?? []);
    const short = chosen.filter((ngram) => frequencies.memo(ngram).list === null);
    const match = matchAll(short.slice(0, MAX_SHORT_LISTS));
    // Reading a few names at once is faster than iterating.
    if (isRare) return sql.listByShort.all(match, text);
    if (long.length === 0) return sql.listByShort.iterate(match, text);
    if (short.length === 0) return listByRank(longLists.intersect(long), text);
    const ranks: number[] = JSON.parse(sql.listShort.get(match)?.ranks ?? "[]");
    return listByRank(longLists.filter(ranks, long), text);
  }

  /** Returns the n-grams whose posting lists are worth reading, rarest first. */
  function choose(ngrams: string[]): string[] {
    const counted = ngrams
      .map((ngram) => ({ ngram, count: frequencies.memo(ngram).count }))
      .sort((a, b) => a.count - b.count);
    const chosen: string[] = [];
    for (const { ngram, count } of counted) {
      // A rare n-gram leaves few names. Comparing them is faster than reading another list.
      if (counted[0]?.count === 0 && (count > 0 || chosen.length === MAX_RARE_LISTS)) break;
      // An n-gram that is part of a chosen n-gram rules out no further names.
      if (!chosen.some((longer) => longer.includes(ngram))) chosen.push(ngram);
    }
    return chosen;
  }

  function* listByRank(ranks: Iterable<number>, text: string): Generator<Candidate, void> {
    let batch: number[] = [];
    let size = MAX_RESULTS;
    for (const rank of ranks) {
      if (batch.push(rank) < size) continue;
      yield* sql.listAmong.all(JSON.stringify(batch), text);
      batch = [];
      size = Math.min(2 * size, MAX_BATCH);
    }
    yield* sql.listAmong.all(JSON.stringify(batch), text);
  }

  return {
    cover,
    list,
    /** Returns the names that might equal a text. */
    listEqual: (text: string): Iterable<Candidate> =>
      hasCodePoints(text, MAX_NGRAM)
        ? sql.listLongEqual.iterate(text)
        : list(cover(START, text, [text + END])),
  };
}

/** Quoting an n-gram disables FTS5's query syntax inside it. */
export function matchAll(ngrams: string[]): string {
  return ngrams.map((ngram) => `"${ngram.replaceAll('"', '""')}"`).join(" AND ");
}
