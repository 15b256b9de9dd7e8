/**
 * Turns queries into FTS5 queries. Which n-grams these contain decides how long a search takes. What it
 * finds depends on them only in tier 6 and for slips, where few names are compared.
 *
 * For example, if `^` is START, `_` is WORD and `$` is END:
 *
 * | query | finds names | FTS5 query |
 * |---|---|---|
 * | `an` | in tier 3 | `_an`, which is one n-gram, so all these names match |
 * | `annik` | in tier 1 | `^ann AND $ki AND nni AND nik`; the end is written backwards |
 * | `annik` | in tier 2 | `^ann AND nni AND nik` |
 * | `annik` | in tier 4 | `ann AND nni`: the rarest n-gram of each half of `ann nni nik` |
 * | `nn han` | in tier 5 | `nn AND han` |
 * | `annik` | with a slip | `^an`, and then `$ki` |
 *
 * `#allOf` says why each AND is written `("ann" NOT "") AND "nni"`.
 */
import { hasCodePoints } from "../domain/text.ts";
import type { LooseQuery, WholeTier } from "./match.ts";
import {
  DIVIDED,
  DIVIDED_START,
  END,
  isMixed,
  isNgram,
  KEY,
  KEY_START,
  listRepeated,
  MIXED_SCRIPTS,
  SLICE,
  START,
  trigramsOf,
  WORD,
} from "./ngrams.ts";
import { termOf } from "./terms.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** How many n-grams are looked up. Names that have these hardly ever lack others of the query. */
const MAX_LOOKUPS = 6;
/** The same beside n-grams with marks, which few names have. */
const MAX_BESIDE_MARKS = 2;
/** The most two-letter words that are looked up, each of which has one n-gram. */
const MAX_WORDS = 10;

/** If even the rarest n-gram lists this many names, neighbouring n-grams are looked up, too. */
const MANY_NAMES = 4096;

/**
 * About how many names of the shortest list a long search reads between two pauses. With five million
 * names, that takes 3 ms, or up to 16 ms if nearly all of these names have the other n-grams, too, but do
 * not match.
 */
const SLICE_READS = 1 << 13;

/** The mark before a query that a name matches in this tier. */
const marks: Record<WholeTier, string> = { 1: START, 2: START, 3: WORD, 4: "" };

export class FtsQueries {
  readonly #vocabulary: Vocabulary;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /**
   * Returns the FTS5 query for the names that any of the spellings finds in this tier. It also finds
   * names that match in better tiers and, unless all spellings are n-grams, some that do not match.
   */
  forTier(tier: WholeTier, spellings: string[]): string {
    return anyOf(
      spellings.map((query) =>
        isNgram(query) ? this.#forNgram(tier, query) : this.#forText(tier, query),
      ),
    );
  }

  /**
   * Returns the FTS5 query for the names that contain all words of a list, and some others, and in how
   * many slices a search should read them. FTS5 looks for the first name before it heeds the limits of a
   * slice, and heeds them only where it finds one, so it also has to find the names of `SLICE`.
   */
  forWords(wordLists: string[][]): { ftsQuery: string; slices: number } {
    const ngramLists = wordLists.map((words) => this.#ngramsOfWords(words));
    let reads = 0;
    for (const ngrams of ngramLists) {
      reads += Math.min(...ngrams.map((ngram) => this.#vocabulary.count(ngram)));
    }
    const slices = Math.max(1, Math.ceil(reads / SLICE_READS));

    const ftsQueries = ngramLists.map((ngrams) => {
      return this.#allOf(slices > 1 ? ngrams.map((ngram) => [ngram, SLICE]) : ngrams);
    });
    return { ftsQuery: anyOf(ftsQueries), slices };
  }

  #ngramsOfWords(words: string[]): string[] {
    const ngrams = words.flatMap((word) => [
      ...this.#pickRarest(trigramsOf(word), MAX_LOOKUPS),
      ...this.#pickRepeated(word),
    ]);
    const rarest = this.#byRarity([...new Set(ngrams)]).slice(0, MAX_WORDS);
    return withScripts(words.join(" "), rarest);
  }

  /** Returns the FTS5 query for the names that match loosely, and some others. */
  forLoose({ compact, keys }: LooseQuery): string {
    const divided = compact.map((text) =>
      this.#forLooseText(text, [START, WORD, DIVIDED_START], ["", DIVIDED]),
    );
    const keyed = keys.map((key) => this.#forLooseText(key, [KEY_START], [KEY]));
    return anyOf([...divided, ...keyed]);
  }

  /**
   * Returns FTS5 queries that together find the names that are one slip away from a text, and some
   * that are two slips away: those that have its beginning, its end, or both edges.
   */
  forSlips(text: string): string[] {
    const points = [...text];
    const { length } = points;
    const start = (count: number) => START + points.slice(0, count).join("");
    const end = END + points.slice(-2).reverse().join("");
    const beginning = (count: number) => {
      const others = trigramsOf(points.slice(0, count).join("")).slice(1);
      return this.#allOf([
        start(Math.min(3, count)),
        ...this.#pickRarest(others, MAX_BESIDE_MARKS),
      ]);
    };
    const ending = (count: number) => {
      const others = count > 2 ? trigramsOf(points.slice(-count).join("")) : [];
      return this.#allOf([end, ...this.#pickRarest(others, MAX_BESIDE_MARKS)]);
    };
    const [first = "", second = "", third = "", last = ""] = points;
    // Neither edge of four letters is left if those in the middle are swapped.
    const swapped = this.#allOf([START + first + third, END + last + second]);
    if (length === 4) return [beginning(2), ending(2), swapped];
    if (length === 5) return [beginning(2), ending(2)];
    const queries = [beginning(length - 3), ending(length - 3), this.#allOf([start(2), end])];
    if (length < 8) return queries;
    const half = Math.ceil(length / 2);
    return [...queries, beginning(half), ending(half)];
  }

  /** An n-gram may be listed with any of the marks. */
  #forLooseText(text: string, startMarks: string[], otherMarks: string[]): string {
    const [first = "", ...others] = trigramsOf(text);
    const picked = this.#pickRarest([...new Set(others)], MAX_LOOKUPS);
    return this.#allOf([
      startMarks.map((mark) => mark + first),
      ...picked.map((ngram) => otherMarks.map((mark) => mark + ngram)),
    ]);
  }

  #forText(tier: WholeTier, query: string): string {
    const ngrams = ngramsOfQuery(query);
    const repeated = this.#pickRepeated(query);
    if (tier === 4) {
      const rarest = this.#pickRarest(ngrams, MAX_LOOKUPS);
      return this.#allOf(withScripts(query, [...rarest, ...repeated]));
    }
    const [first = "", ...others] = ngrams;
    const [last = "", previous = ""] = [...query].reverse();
    const end = tier === 1 ? [END + last + previous] : [];
    const beside = this.#pickRarest(others, MAX_BESIDE_MARKS);
    return this.#allOf([marks[tier] + first, ...end, ...beside, ...repeated]);
  }

  /** A single code point looks up all n-grams that begin with it. */
  #forNgram(tier: WholeTier, query: string): string {
    if (tier === 1) return quote(START + query + END);
    const ngram = marks[tier] + query;
    if (hasCodePoints(query, 2)) return quote(ngram);
    // No n-gram begins with the last code point of a name.
    const beginnings = tier === 4 ? [ngram, END + query] : [ngram];
    const ngrams = beginnings.flatMap((start) => [start, ...this.#vocabulary.listLonger(start)]);
    return ngrams.map(quote).join(" OR ");
  }

  /**
   * Returns the rarest n-gram of each part of a query. Neighbours are mostly rare together, so the
   * rarest of all would exclude fewer names.
   */
  #pickRarest(ngrams: string[], max: number): string[] {
    const { length } = ngrams;
    const isCommon = ngrams.every((ngram) => this.#vocabulary.count(ngram) >= MANY_NAMES);
    const parts = Math.min(max, isCommon ? length : Math.ceil((length + 1) / 2));
    return Array.from({ length: parts }, (_, part) => {
      const from = Math.floor((part * length) / parts);
      const to = Math.floor(((part + 1) * length) / parts);
      return this.#byRarity(ngrams.slice(from, to))[0] ?? "";
    });
  }

  /** Names such as Papadopoulos have all n-grams of "apap", but "ap" only once. */
  #pickRepeated(text: string): string[] {
    return this.#pickRarest(listRepeated(text), MAX_BESIDE_MARKS);
  }

  #byRarity(ngrams: string[]): string[] {
    return ngrams.sort((a, b) => this.#vocabulary.count(a) - this.#vocabulary.count(b));
  }

  /**
   * Finds the names that have an n-gram of each group. The rarest come first. `NOT ""` excludes nothing,
   * but keeps FTS5 from merging the nested ANDs. FTS5 then reads a long list only near the names that all
   * shorter lists have.
   */
  #allOf(groups: (string | string[])[]): string {
    return groups
      .map((group) => {
        const ngrams = [group].flat();
        const counts = ngrams.map((ngram) => this.#vocabulary.count(ngram));
        return { query: anyOf(ngrams.map(quote)), count: counts.reduce((a, b) => a + b) };
      })
      .sort((a, b) => a.count - b.count)
      .map(({ query }) => query)
      .reduce((found, query) => `((${found}) NOT "") AND (${query})`);
  }
}

const anyOf = (ftsQueries: string[]) => ftsQueries.map((each) => `(${each})`).join(" OR ");

/** Quoting a term disables FTS5's query syntax inside it. */
const quote = (ngram: string) => `"${termOf(ngram).replaceAll('"', '""')}"`;

/**
 * Many names have some n-grams in their own letters and others in their Latin spelling, but few have
 * both in one spelling.
 */
const withScripts = (query: string, ngrams: string[]) =>
  isMixed(query) ? [...ngrams, MIXED_SCRIPTS] : ngrams;

/**
 * Returns the distinct n-grams of a query. Where a word follows a space, names that match have a later
 * word there, whose n-grams have shorter lists.
 */
function ngramsOfQuery(query: string): string[] {
  const [first = "", ...later] = query.split(/(?<= )(?=[\p{L}\p{N}].)/su);
  const marked = later.map(trigramsOf).map(([start, ...others]) => [WORD + start, ...others]);
  return [...new Set([trigramsOf(first), ...marked].flat())];
}
