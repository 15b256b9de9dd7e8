/**
 * Splits names into the n-grams under which FTS5 lists them, and turns queries into those that FTS5
 * looks up. An n-gram has two or three code points, so a query of that length is one itself.
 */
import { hasCodePoints } from "../domain/text.ts";
import { SPELLING_END, TRANSLITERATED } from "./fold.ts";
import { type PlaceTier, wordStartsOf } from "./tiers.ts";

// Folding drops control characters, so no name contains these marks.
/** Precedes the first two and the first three code points of a name. */
const START = "\u0091";
/** Precedes the first two and the first three code points from the start of a later word on. */
const WORD = "\u0092";
/** Precedes the last code point and then the one before it, and follows a name of up to three. */
const END = "\u0093";
/** Lists the names that contain letters that are also spelled in Latin letters. */
const LATIN = "\u0094";

/** FTS5 splits n-grams here. Folded names contain no line feed. */
const SEPARATOR = "\n";

/** FTS5 reads every list that it intersects, so a long query looks up only some of its n-grams. */
const MAX_LOOKUPS = 8;

/** Returns the n-grams of a name in all its spellings, as the text that FTS5 indexes. */
export function ngramsOf(spellings: string): string {
  const latin = spellings.search(TRANSLITERATED) < 0 ? "" : LATIN + SEPARATOR;
  return latin + spellings.split(SPELLING_END).map(ngramsOfSpelling).join("");
}

function ngramsOfSpelling(spelling: string): string {
  if (spelling === "") return "";
  let ngrams = "";
  let previous = "";
  let last = "";
  for (const point of spelling) {
    const pair = last + point + SEPARATOR;
    if (last !== "") ngrams += pair;
    if (previous !== "") ngrams += previous + pair;
    previous = last;
    last = point;
  }
  for (const start of wordStartsOf(spelling)) {
    if (start > 0) ngrams += beginningsOf(WORD, spelling.slice(start));
  }
  if (isNgram(spelling)) ngrams += START + spelling + END + SEPARATOR;
  return ngrams + beginningsOf(START, spelling) + END + last + previous + SEPARATOR;
}

function beginningsOf(mark: string, text: string): string {
  const [first = "", second = "", third = ""] = text;
  const pair = mark + first + second;
  return pair + SEPARATOR + pair + third + SEPARATOR;
}

/** Whether a query of this length is looked up as it is, so that all names found match it. */
export const isNgram = (query: string) => !hasCodePoints(query, 4);

/**
 * Returns the FTS5 query for the names that match in this tier. It also finds names that match in
 * better tiers and, unless the query is an n-gram, some that do not match.
 */
export function ftsQueryFor(tier: PlaceTier, query: string): string {
  if (isNgram(query)) return ftsQueryForNgram(tier, query);
  const [first = "", ...others] = ngramsInside(query);
  const [last = "", previous = ""] = [...query].reverse();
  const beginning = {
    1: [START + first, END + last + previous],
    2: [START + first],
    3: [WORD + first],
    4: [first],
  };
  return matchAll(beginning[tier].concat(spread(others)));
}

/** A query of one code point matches the beginnings of n-grams. */
function ftsQueryForNgram(tier: PlaceTier, query: string): string {
  const prefix = hasCodePoints(query, 2) ? "" : " *";
  if (tier === 1) return quote(START + query + END);
  if (tier === 2) return quote(START + query) + prefix;
  if (tier === 3) return quote(WORD + query) + prefix;
  // No n-gram begins with the last code point of a name.
  return prefix ? `${quote(query)} * OR ${quote(END + query)} *` : quote(query);
}

/** Returns the FTS5 query for the names that contain all words, and some others. */
export function ftsQueryForWords(words: string[]): string {
  return matchAll(spread(words.flatMap(ngramsInside)));
}

/** The FTS5 query for names with letters that are also spelled in Latin letters. */
export const LATIN_NAMES = quote(LATIN);

/** Returns n-grams that together contain each code point of the text. */
function ngramsInside(text: string): string[] {
  if (isNgram(text)) return [text];
  const points = [...text];
  const ngramAt = (at: number) => points.slice(at, at + 3).join("");
  const last = points.length - 3;
  const ngrams: string[] = [];
  for (let at = 0; at < last; at += 3) ngrams.push(ngramAt(at));
  return [...ngrams, ngramAt(last)];
}

/** Picks up to {@link MAX_LOOKUPS} n-grams at regular distances, among them the first and the last. */
function spread(ngrams: string[]): string[] {
  const distance = Math.max(1, (ngrams.length - 1) / (MAX_LOOKUPS - 1));
  return ngrams.filter((_, at) => at === Math.round(Math.round(at / distance) * distance));
}

function matchAll(ngrams: string[]): string {
  return [...new Set(ngrams)].map(quote).join(" AND ");
}

/** Quoting an n-gram disables FTS5's query syntax inside it. */
function quote(ngram: string): string {
  return `"${ngram.replaceAll('"', '""')}"`;
}
