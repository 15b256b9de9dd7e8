/**
 * Splits names into the n-grams under which FTS5 lists them, and turns queries into those that FTS5
 * looks up. An n-gram has two or three code points, so a query of that length is one itself.
 */
import { hasCodePoints } from "../domain/text.ts";
import { SPELLING_END, TRANSLITERATED } from "./fold.ts";
import { type WholeTier, wordStartsOf } from "./tiers.ts";

// Folding drops control characters, so no name contains these marks.
/** Precedes the first two and the first three code points of a name. */
const START = "\u0091";
/** Precedes the first two and the first three code points from the start of a later word on. */
const WORD = "\u0092";
/** Precedes the last code point and then the one before it, and follows a name of up to three. */
const END = "\u0093";
/** Lists the names that contain letters that are also spelled in Latin letters. */
export const LATIN = "\u0094";

/** FTS5 splits n-grams here. No spelling has a line feed. */
const SEPARATOR = "\n";

/** A long query looks up only some of its n-grams. More would exclude hardly any other name. */
const MAX_LOOKUPS = 8;

/** Returns the n-grams of all spellings of a name (`folded`), as the text that FTS5 indexes. */
export function ngramsOf(folded: string): string {
  const latin = folded.search(TRANSLITERATED) < 0 ? "" : LATIN + SEPARATOR;
  return latin + folded.split(SPELLING_END).map(ngramsOfSpelling).join("");
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
export function ftsQueryFor(tier: WholeTier, query: string): string {
  if (isNgram(query)) return ftsQueryForNgram(tier, query);
  const [first = "", ...others] = ngramsOfQuery(query);
  const [last = "", previous = ""] = [...query].reverse();
  const end = tier === 1 ? [END + last + previous] : [];
  return matchAll([marks[tier] + first, ...end, ...spread(others)]);
}

/** The mark before a query that a name matches in this tier. */
const marks: Record<WholeTier, string> = { 1: START, 2: START, 3: WORD, 4: "" };

/** A query of one code point matches the beginnings of n-grams. */
function ftsQueryForNgram(tier: WholeTier, query: string): string {
  if (tier === 1) return quote(START + query + END);
  const prefix = hasCodePoints(query, 2) ? "" : " *";
  const found = quote(marks[tier] + query) + prefix;
  // No n-gram begins with the last code point of a name.
  return tier === 4 && prefix !== "" ? `${found} OR ${quote(END + query)} *` : found;
}

/** Returns the FTS5 query for the names that contain all words, and some others. */
export function ftsQueryForWords(words: string[]): string {
  return matchAll(spread(words.flatMap(ngramsInside)));
}

/**
 * Returns n-grams that together contain nearly all code points of the query. Where a word follows a
 * space, names that match have a later word there, whose n-grams have shorter lists.
 */
function ngramsOfQuery(query: string): string[] {
  const [first = "", ...later] = query.split(/(?<= )(?=[\p{L}\p{N}].)/su);
  const marked = later.map(ngramsInside).map(([start, ...others]) => [WORD + start, ...others]);
  return [ngramsInside(first), ...marked].flat();
}

/** Returns n-grams that together contain each code point of the text. */
function ngramsInside(text: string): string[] {
  const points = [...text];
  const last = Math.max(0, points.length - 3);
  const starts = [...points.keys()].filter((at) => at % 3 === 0 && at < last);
  return [...starts, last].map((at) => points.slice(at, at + 3).join(""));
}

/** Picks up to {@link MAX_LOOKUPS} n-grams at regular distances, among them the first and the last. */
function spread(ngrams: string[]): string[] {
  const distance = Math.max(1, (ngrams.length - 1) / (MAX_LOOKUPS - 1));
  const picked = Array.from({ length: MAX_LOOKUPS }, (_, nth) => Math.round(nth * distance));
  return ngrams.filter((_, at) => picked.includes(at));
}

/**
 * Long n-grams have short lists, and come first. `NOT ""` excludes nothing, but keeps FTS5 from merging
 * the nested ANDs: it then reads a long list only near the names that all shorter lists have, which
 * makes "an or tokami" nine times as fast.
 */
function matchAll(ngrams: string[]): string {
  const longestFirst = [...new Set(ngrams)].sort((a, b) => b.length - a.length).map(quote);
  return longestFirst.reduce((found, ngram) => `((${found}) NOT "") AND ${ngram}`);
}

/** Quoting an n-gram disables FTS5's query syntax inside it. */
function quote(ngram: string): string {
  return `"${ngram.replaceAll('"', '""')}"`;
}
