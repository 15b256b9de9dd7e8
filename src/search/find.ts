/**
 * Finds the names that match a query, best first. README.md has the rules. The query `Ивано`:
 *
 * 1. It has two spellings, `ивано` and `ivano`, and a name such as Иванова has them, too.
 * 2. FTS5 finds the names that have the rarer n-grams of a spelling, best first. Not all of them contain
 *    the spelling, so SQLite compares them. The first ten match in tiers 1 to 4.
 * 3. If there are ten, others may match in a better tier. So FTS5 finds the names that also have the
 *    mark of a tier, such as START before the first n-gram of the query.
 * 4. If there are fewer than ten, names with all its words follow, of which it has one, and then loose
 *    matches.
 *
 * A query such as `ив` is an n-gram itself, so the names that FTS5 finds need not be compared.
 */
import { MAX_RESULTS, type NameKind } from "../domain/model.ts";
import type { Sqlite, Statement } from "../sqlite/driver.ts";
import { SPELLING_END, spellQuery } from "./fold.ts";
import { FtsQueries } from "./fts-query.ts";
import {
  countSlips,
  hasWords,
  type LooseQuery,
  matchesLoosely,
  maxSlipsFor,
  requiredWordsOf,
  spellLoosely,
  tierOf,
  type WholeTier,
} from "./match.ts";
import { isNgram, OTHER_SCRIPT, SLICE } from "./ngrams.ts";
import { ALL_ROWS, idOfRow, type Rows, rowsUpToLength } from "./result-order.ts";
import { Vocabulary } from "./vocabulary.ts";

const wholeTiers: readonly WholeTier[] = [1, 2, 3, 4];

interface SimilarName {
  id: number;
  slips: number;
}

export class NameSearch {
  readonly #ids: Statement<{ id: number }>;
  readonly #containing: Statement<{ id: number; folded: string }>;
  readonly #names: Statement<{ id: number; folded: string; name: string }>;
  readonly #sliceStarts: Statement<{ row: string }>;
  readonly #ftsQueries: FtsQueries;
  readonly #rowsUpToLength: (max: number) => Rows;

  constructor(client: Sqlite, kind: NameKind) {
    const id = idOfRow[kind];
    const table = `${kind}_ngram`;
    const records = `${table} AS ngram CROSS JOIN ${kind} AS record ON record.id = ${id}`;
    const inRows = "ngram.rowid >= CAST(? AS INTEGER) AND ngram.rowid < CAST(? AS INTEGER)";
    // Without the plus, SQLite would compile the statement again for each limit.
    const inOrder = "ORDER BY ngram.rowid LIMIT +?";
    this.#ids = client.prepare(`SELECT ${id} AS id
      FROM ${table} AS ngram WHERE ${table} MATCH ? ${inOrder}`);
    // SQLite compares the names, because reading each into JavaScript takes longer.
    this.#containing = client.prepare(`SELECT record.id, folded
      FROM ${records} WHERE ${table} MATCH ? AND (instr(folded, ?) OR instr(folded, ?))
        AND ${inRows} ${inOrder}`);
    this.#names = client.prepare(`SELECT record.id, folded, name
      FROM ${records} WHERE ${table} MATCH ? AND ${inRows} ${inOrder}`);
    this.#sliceStarts = client.prepare(`SELECT CAST(rowid AS TEXT) AS row
      FROM ${table} WHERE ${table} MATCH ? ORDER BY rowid`);
    this.#ftsQueries = new FtsQueries(new Vocabulary(client, kind));
    this.#rowsUpToLength = rowsUpToLength[kind];
  }

  /**
   * Returns the ids of the best matches, best first. Takes a normalized query. Yields where a search for
   * several words can pause, so that it does not hold up others.
   */
  *find(query: string): Generator<void, number[]> {
    const spellings = spellQuery(query);
    if (spellings.length === 0) return [];
    const hits = new Set<number>();

    if (spellings.every(isNgram)) this.#addProven(hits, spellings);
    else this.#addWhole(hits, spellings);
    if (!areEnough(hits)) yield* this.#addByWords(hits, spellings);
    if (!areEnough(hits)) this.#addLoose(hits, spellLoosely(query, spellings));

    return [...hits].slice(0, MAX_RESULTS);
  }

  /** Returns up to three names that differ from a query by a slip or two, the nearest first. */
  listSimilar(query: string): SimilarName[] {
    const mostSlips = maxSlipsFor([...query]);
    const spellings = spellQuery(query).flatMap((spelling) => {
      const points = [...spelling];
      const maxSlips = Math.min(mostSlips, maxSlipsFor(points));
      return maxSlips > 0 ? [{ spelling, points, maxSlips }] : [];
    });
    const slipsIn = (folded: string) => {
      const names = folded.split(SPELLING_END).map((name) => [...name]);
      const counts = spellings.flatMap(({ points, maxSlips }) =>
        names.map((name) => countSlips(points, name, maxSlips)),
      );
      return Math.min(...counts);
    };

    const similar: SimilarName[] = [];
    const compared = new Set<string>();
    let left = MAX_SIMILAR_READ;
    for (const { spelling, points, maxSlips } of spellings) {
      // Rows tell the length of the first spelling. The others may be far longer (별 and byeol) or a
      // little shorter (Альберт and albert).
      const rows = this.#rowsUpToLength(points.length + 2 * maxSlips);
      for (const ftsQuery of this.#ftsQueries.forSlips(spelling)) {
        const names = this.#names.all(ftsQuery, ...rows, left);
        left -= names.length;
        for (const { id, folded } of names) {
          if (compared.has(folded)) continue;
          compared.add(folded);
          const slips = slipsIn(folded);
          if (slips < Infinity) similar.push({ id, slips });
        }
        if (similar.filter(({ slips }) => slips === 1).length >= MAX_SIMILAR) break;
      }
    }
    return similar.sort((a, b) => a.slips - b.slips).slice(0, MAX_SIMILAR);
  }

  /** Whether some names in other scripts are found by their Latin spellings. */
  hasOtherScripts(): boolean {
    return this.#ids.all(OTHER_SCRIPT, 1).length > 0;
  }

  /** Adds the best matches of tiers 1 to 4 for n-grams, which match all names that list them. */
  #addProven(hits: Set<number>, spellings: string[]): void {
    for (const tier of wholeTiers) {
      const found = this.#ids.all(this.#ftsQueries.forTier(tier, spellings), MAX_RESULTS);
      for (const { id } of found) hits.add(id);
      if (areEnough(hits)) return;
    }
  }

  /** Adds the best matches of tiers 1 to 4. */
  #addWhole(hits: Set<number>, spellings: string[]): void {
    const contained = pairOf(spellings);
    const query = this.#ftsQueries.forTier(4, spellings);
    // The first of all matches: those in tier 4, unless a better tier has enough.
    const first = this.#containing.all(query, ...contained, ...ALL_ROWS, MAX_RESULTS);
    if (first.length === MAX_RESULTS) {
      for (const tier of [1, 2, 3] as const) {
        const matches = (folded: string) => bestTier(folded, spellings) <= tier;
        this.#addMatches(hits, this.#ftsQueries.forTier(tier, spellings), contained, matches);
        if (areEnough(hits)) return;
      }
    }
    const byTier = Map.groupBy(first, ({ folded }) => bestTier(folded, spellings));
    for (const tier of wholeTiers) {
      for (const { id } of byTier.get(tier) ?? []) hits.add(id);
    }
  }

  /**
   * Adds matches of tier 5. Words that are common, but not together, make SQLite read every name that has
   * one of them, which is split into slices so that others wait less than 20 ms even with five million
   * users.
   */
  *#addByWords(hits: Set<number>, spellings: string[]): Generator<void, void> {
    const wordLists = spellings.map(requiredWordsOf).filter(({ length }) => length > 0);
    if (wordLists.length === 0) return;
    const contained = pairOf(wordLists.map(longestOf));
    const matches = (folded: string) => wordLists.some((words) => hasWords(folded, words));
    const { ftsQuery, slices } = this.#ftsQueries.forWords(wordLists);
    for (const rows of this.#listSlices(slices)) {
      this.#addMatches(hits, ftsQuery, contained, matches, rows);
      if (areEnough(hits)) return;
      if (slices > 1) yield;
    }
  }

  /** Adds matches of tier 6. */
  #addLoose(hits: Set<number>, query: LooseQuery): void {
    if (query.compact.length + query.keys.length === 0) return;
    const ftsQuery = this.#ftsQueries.forLoose(query);
    const found = this.#names.iterate(ftsQuery, ...ALL_ROWS, MAX_LOOSELY_COMPARED);
    for (const { id, ...name } of found) {
      if (!hits.has(id) && matchesLoosely(name, query)) hits.add(id);
      if (areEnough(hits)) return;
    }
  }

  #addMatches(
    hits: Set<number>,
    ftsQuery: string,
    contained: Contained,
    matches: (folded: string) => boolean,
    rows = ALL_ROWS,
  ): void {
    const found = this.#containing.iterate(ftsQuery, ...contained, ...rows, NO_LIMIT);
    for (const { id, folded } of found) {
      if (matches(folded)) hits.add(id);
      if (areEnough(hits)) return;
    }
  }

  /** Returns up to `count` slices of all rows, which are equally long unless many names have changed. */
  #listSlices(count: number): Rows[] {
    if (count === 1) return [ALL_ROWS];
    const starts = this.#sliceStarts.all(SLICE);
    const step = Math.ceil(starts.length / count);
    const bounds = starts.filter((_, at) => at > 0 && at % step === 0).map(({ row }) => row);
    const [first, end] = ALL_ROWS;
    return [first, ...bounds].map((from, at) => [from, bounds[at] ?? end]);
  }
}

const NO_LIMIT = -1;

export const MAX_SIMILAR = 3;

/** How many names all FTS5 queries for slips read together. This finds nine of ten that are meant. */
const MAX_SIMILAR_READ = 500;

/** Few, because making keys takes long, and nearly all names that FTS5 finds for a loose query match. */
const MAX_LOOSELY_COMPARED = 100;

/** A name must contain one of these texts. A query has at most two spellings. */
type Contained = [string, string | null];
const pairOf = ([first = "", second]: string[]): Contained => [first, second ?? null];

const longestOf = (words: string[]) => words.reduce((a, b) => (b.length > a.length ? b : a));

const areEnough = (hits: Set<number>) => hits.size >= MAX_RESULTS;

/** Returns the best of tiers 1 to 4 in which any of the spellings matches, or Infinity. */
function bestTier(folded: string, spellings: string[]): number {
  return Math.min(...spellings.map((query) => tierOf(folded, query) ?? Infinity));
}
