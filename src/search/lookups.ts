/**
 * Chooses which n-grams of a query are looked up. The choice decides how long a search takes. What it
 * finds depends on it only in tier 6, where few names are compared.
 *
 * For example, if `^` is START, `_` is WORD and `$` is END:
 *
 * | query | finds names | n-grams that are looked up |
 * |---|---|---|
 * | `an` | in tier 3 | `_an`, so all names that are found match |
 * | `annik` | in tier 1 | `^ann`, `$ki`, `nni` and `nik`; the end is written backwards |
 * | `annik` | in tier 2 | `^ann`, `nni` and `nik` |
 * | `annik` | in tier 4 | `ann` and `nni`: the rarest of each half of `ann nni nik` |
 * | `nn han` | in tier 5 | `nn` and `han` |
 */
import { hasCodePoints } from "../domain/text.ts";
import type { LooseQuery } from "./loose.ts";
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
  START,
  trigramsOf,
  WORD,
} from "./ngrams.ts";
import type { WholeTier } from "./tiers.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Groups of n-grams. A name is found if it has at least one n-gram of each group. */
export type Lookup = string[][];

/**
 * How many n-grams of a text are looked up at most. Fewer would leave more names to compare. More would
 * hardly exclude any, but take longer if thousands of names have a long text in common.
 */
const MAX_NGRAMS = 6;

/** The same beside n-grams with marks, which leave few names that could be excluded. */
export const MAX_BESIDE_MARKS = 2;

/** The same for all words of a query. With 30, a query of ninety words would take nearly twice as long. */
const MAX_OF_WORDS = 10;

/** The mark before a query that a name matches in this tier. */
const marks: Record<WholeTier, string> = { 1: START, 2: START, 3: WORD, 4: "" };

export class Lookups {
  readonly #vocabulary: Vocabulary;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /**
   * Finds the names that match a spelling of a query in this tier or a better one and, unless the
   * spelling is an n-gram, some that do not match.
   */
  forTier(tier: WholeTier, spelling: string): Lookup {
    return isNgram(spelling) ? this.#forNgram(tier, spelling) : this.#forText(tier, spelling);
  }

  /** An n-gram finds all names by itself. */
  #forNgram(tier: WholeTier, query: string): Lookup {
    if (tier === 1) return [[START + query + END]];
    const ngram = marks[tier] + query;
    if (hasCodePoints(query, 2)) return [[ngram]];
    // A single code point is the beginning of n-grams, or the last one of a name.
    const beginnings = tier === 4 ? [ngram, END + query] : [ngram];
    return [beginnings.flatMap((start) => [start, ...this.#vocabulary.listLonger(start)])];
  }

  #forText(tier: WholeTier, query: string): Lookup {
    const ngrams = ngramsOfQuery(query);
    const repeated = this.#pickRepeated(query);
    if (tier === 4) {
      return eachOf([...this.#pick(ngrams, MAX_NGRAMS), ...repeated, ...scriptsOf(query)]);
    }
    const [first = "", ...others] = ngrams;
    const [last = "", previous = ""] = [...query].reverse();
    const end = tier === 1 ? [END + last + previous] : [];
    const beside = this.#pick(others, MAX_BESIDE_MARKS);
    return eachOf([marks[tier] + first, ...end, ...beside, ...repeated]);
  }

  /** Finds the names that contain all words, and some others. */
  forWords(words: string[]): Lookup {
    const ngrams = words.flatMap((word) => [
      ...this.#pick(trigramsOf(word), MAX_NGRAMS),
      ...this.#pickRepeated(word),
    ]);
    const rarest = this.#vocabulary.sortByRarity(eachOf([...new Set(ngrams)]));
    return [...rarest.slice(0, MAX_OF_WORDS), ...eachOf(scriptsOf(words.join(" ")))];
  }

  /** Finds the names that match any of the texts loosely, and some others. */
  forLoose({ compact, keys }: LooseQuery): Lookup[] {
    const starts = [START, WORD, DIVIDED_START];
    return [
      ...compact.map((text) => this.#forLooseText(text, starts, ["", DIVIDED])),
      ...keys.map((key) => this.#forLooseText(key, [KEY_START], [KEY])),
    ];
  }

  /** An n-gram may be listed with any of the marks. */
  #forLooseText(text: string, startMarks: string[], otherMarks: string[]): Lookup {
    const [first = "", ...others] = trigramsOf(text);
    return [
      startMarks.map((mark) => mark + first),
      ...this.#pick([...new Set(others)], MAX_NGRAMS).map((ngram) =>
        otherMarks.map((mark) => mark + ngram),
      ),
    ];
  }

  #pick(ngrams: string[], max: number): string[] {
    return this.#vocabulary.pickRarest(ngrams, max);
  }

  /** Names such as Papadopoulos have all n-grams of "apap", but "ap" only once. */
  #pickRepeated(text: string): string[] {
    return this.#pick(listRepeated(text), MAX_BESIDE_MARKS);
  }
}

export const eachOf = (ngrams: string[]): Lookup => ngrams.map((ngram) => [ngram]);

/**
 * Many names have some n-grams of a mixed query in their own letters and others in their Latin spelling,
 * but few have both in one spelling.
 */
const scriptsOf = (query: string) => (isMixed(query) ? [MIXED_SCRIPTS] : []);

/**
 * Returns the distinct n-grams of a query. Where a word follows a space, names that match have a later
 * word there, whose n-grams have shorter lists.
 */
function ngramsOfQuery(query: string): string[] {
  const [first = "", ...later] = query.split(/(?<= )(?=[\p{L}\p{N}].)/su);
  const marked = later.map(trigramsOf).map(([start, ...others]) => [WORD + start, ...others]);
  return [...new Set([trigramsOf(first), ...marked].flat())];
}
