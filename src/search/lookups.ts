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

/**
 * Finds the names that match a spelling of a query in this tier or a better one and, unless the spelling is
 * an n-gram, some that do not match.
 */
export function lookUpTier(tier: WholeTier, spelling: string, vocabulary: Vocabulary): Lookup {
  if (isNgram(spelling)) return lookUpNgram(tier, spelling, vocabulary);

  const ngrams = ngramsOfQuery(spelling);
  const repeated = pickRepeated(spelling, vocabulary);
  if (tier === 4) {
    const rarest = vocabulary.pickRarest(ngrams, MAX_NGRAMS);
    return eachOf([...rarest, ...repeated, ...scriptsOf(spelling)]);
  }
  const [first = "", ...others] = ngrams;
  const [last = "", previous = ""] = [...spelling].reverse();
  const end = tier === 1 ? [END + last + previous] : [];
  const beside = vocabulary.pickRarest(others, MAX_BESIDE_MARKS);
  return eachOf([marks[tier] + first, ...end, ...beside, ...repeated]);
}

function lookUpNgram(tier: WholeTier, query: string, vocabulary: Vocabulary): Lookup {
  if (tier === 1) return [[START + query + END]];
  const ngram = marks[tier] + query;
  if (hasCodePoints(query, 2)) return [[ngram]];
  // A single code point is the beginning of n-grams, or the last one of a name.
  const beginnings = tier === 4 ? [ngram, END + query] : [ngram];
  return [beginnings.flatMap((start) => [start, ...vocabulary.listLonger(start)])];
}

/** Finds the names that contain all words, and some others. */
export function lookUpWords(words: string[], vocabulary: Vocabulary): Lookup {
  const ngrams = words.flatMap((word) => [
    ...vocabulary.pickRarest(trigramsOf(word), MAX_NGRAMS),
    ...pickRepeated(word, vocabulary),
  ]);
  const rarest = vocabulary.sortByRarity(eachOf([...new Set(ngrams)]));
  return [...rarest.slice(0, MAX_OF_WORDS), ...eachOf(scriptsOf(words.join(" ")))];
}

/** Finds the names that match loosely, and some others. */
export function lookUpLoosely({ compact, keys }: LooseQuery, vocabulary: Vocabulary): Lookup[] {
  /** Each n-gram may be listed with any of the marks. */
  const lookUp = (text: string, startMarks: string[], otherMarks: string[]): Lookup => {
    const [first = "", ...others] = trigramsOf(text);
    const rarest = vocabulary.pickRarest([...new Set(others)], MAX_NGRAMS);
    return [
      startMarks.map((mark) => mark + first),
      ...rarest.map((ngram) => otherMarks.map((mark) => mark + ngram)),
    ];
  };
  return [
    ...compact.map((text) => lookUp(text, [START, WORD, DIVIDED_START], ["", DIVIDED])),
    ...keys.map((key) => lookUp(key, [KEY_START], [KEY])),
  ];
}

/** Finds the names that have all of the n-grams. */
export const eachOf = (ngrams: string[]): Lookup => ngrams.map((ngram) => [ngram]);

/** Names such as Papadopoulos have all n-grams of "apap", but "ap" only once. */
function pickRepeated(text: string, vocabulary: Vocabulary): string[] {
  return vocabulary.pickRarest(listRepeated(text), MAX_BESIDE_MARKS);
}

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
