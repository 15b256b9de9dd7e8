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

const RARE: Frequency = { count: 0, list: null };

export class Candidates {
  readonly #frequencies: LRUCache<string, Frequency>;
  readonly #prepared: ReturnType<typeof prepare>;
  readonly #longLists: ReturnType<typeof openLongLists>;

  constructor(db: Sqlite, kind: NameKind) {
    const prepared = prepare(db, kind);
    this.#prepared = prepared;
    this.#frequencies = new LRUCache({
      max: KNOWN_NGRAMS,
      memoMethod: (ngram) => prepared.findFrequentNgram.get(ngram) ?? RARE,
    });
    this.#longLists = openLongLists(db, kind);
  }

  /** Covers `text`, or else all the words, each of which may be anywhere in a name. */
  cover(boundary: Boundary, text: string, words = [text]): Cover {
    const ngrams = words.flatMap((word) => coveringNgrams(boundary, word, this.#isFrequent));
    return { text, ngrams, isRare: !ngrams.every(this.#isFrequent) };
  }

  readonly #isFrequent = (ngram: string): boolean => this.#frequencies.memo(ngram).count > 0;

  /** Reads all candidates at once, which is faster than iterating. Uses at most two rare covers. */
  listRare(covers: Cover[]): Candidate[] {
    const rare = covers.filter(({ isRare }) => isRare);
    if (rare.length === 0) return [];
    const match = rare.map(({ ngrams }) => `(${matchAll(this.#choose(ngrams))})`).join(" OR ");
    const [first = "", second = first] = rare.map(({ text }) => text);
    return this.#prepared.listRare.all(match, first, second);
  }

  list(cover: Cover): Iterable<Candidate> {
    const chosen = this.#choose(cover.ngrams);
    const long = chosen.flatMap((ngram) => this.#frequencies.memo(ngram).list ?? []);
    const short = chosen.filter((ngram) => this.#frequencies.memo(ngram).list === null);
    const match = matchAll(short.slice(0, MAX_SHORT_LISTS));
    if (long.length === 0) return this.#prepared.listByShort.iterate(match, cover.text);
    if (short.length === 0) return this.#listByRank(this.#longLists.intersect(long), cover.text);
    const ranks: number[] = JSON.parse(this.#prepared.listShort.get(match)?.ranks ?? "[]");
    return this.#listByRank(this.#longLists.filter(ranks, long), cover.text);
  }

  /** Returns the names that might equal a text. */
  listEqual(text: string): Iterable<Candidate> {
    if (hasCodePoints(text, MAX_NGRAM)) return this.#prepared.listLongEqual.iterate(text);
    return this.list(this.cover(START, text, [text + END]));
  }

  /** Returns the n-grams whose posting lists are worth reading, rarest first. */
  #choose(ngrams: string[]): string[] {
    const counted = ngrams
      .map((ngram) => ({ ngram, count: this.#frequencies.memo(ngram).count }))
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

  *#listByRank(ranks: Iterable<number>, text: string): Generator<Candidate, void> {
    const { listAmong } = this.#prepared;
    let batch: number[] = [];
    let size = MAX_RESULTS;
    for (const rank of ranks) {
      if (batch.push(rank) < size) continue;
      yield* listAmong.all(JSON.stringify(batch), text);
      batch = [];
      size = Math.min(2 * size, MAX_BATCH);
    }
    yield* listAmong.all(JSON.stringify(batch), text);
  }
}

function prepare(db: Sqlite, kind: NameKind) {
  const listMatching = (having: string) =>
    `SELECT name.rank, name.folded
       FROM ${kind}_ngram AS ngram JOIN ${kind}_name AS name ON name.rank = ngram.rowid
      WHERE ngram.${kind}_ngram MATCH ? AND ${having}
      ORDER BY ngram.rowid`;
  return {
    findFrequentNgram: db.prepare<Frequency>(
      `SELECT count, list FROM ${kind}_frequent_ngram WHERE ngram = ?`,
    ),
    listAmong: db.prepare<Candidate>(
      `SELECT name.rank, name.folded
         FROM json_each(?) AS listed CROSS JOIN ${kind}_name AS name ON name.rank = listed.value
        WHERE instr(name.folded, ?) > 0`,
    ),
    listByShort: db.prepare<Candidate>(listMatching("instr(name.folded, ?) > 0")),
    listRare: db.prepare<Candidate>(
      listMatching("(instr(name.folded, ?) > 0 OR instr(name.folded, ?) > 0)"),
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
}

/** Quoting an n-gram disables FTS5's query syntax inside it. */
export function matchAll(ngrams: string[]): string {
  return ngrams.map((ngram) => `"${ngram.replaceAll('"', '""')}"`).join(" AND ");
}
