/**
 * Finds names that a query misses by a slip or two. README.md has the rules. Such a name nearly always has
 * the beginning of the query, its end or both, so names that have them are compared. These are the
 * lookups for `nowkaski`, if `^` is START and `$` is END, after which the end is written backwards:
 *
 * | n-grams that are looked up | a name that has them | where it differs |
 * |---|---|---|
 * | `^now`, `owk` and `wka` | Nowkasky | in the last three letters |
 * | `$ik`, `kas` and the rarer of `ask` and `ski` | Novkaski | in the first three |
 * | `^no` and `$ik` | Nowakski | in the middle |
 * | `^now` and `owk` | Nowkuszi | twice in the second half |
 * | `$ik`, `ask` and `ski` | Nawcaski | twice in the first half |
 */
import { MAX_QUERY_CODE_POINTS, SPELLING_END, spellQuery } from "./fold.ts";
import type { IndexReader } from "./index-reader.ts";
import { eachOf, type Lookup, MAX_BESIDE_MARKS } from "./lookups.ts";
import { rowsUpToLength } from "./name-index.ts";
import { END, START, trigramsOf } from "./ngrams.ts";
import type { Vocabulary } from "./vocabulary.ts";

export const MAX_SIMILAR = 3;

/** How many names all lookups read together. This finds nine of ten that are meant. */
const MAX_READ = 500;

export interface SimilarName {
  id: number;
  slips: number;
}

/** Returns up to three names that differ from a query by a slip or two, the nearest first. */
export function listSimilar(reader: IndexReader, query: string): SimilarName[] {
  const mostSlips = maxSlipsFor([...query]);
  const spellings = spellQuery(query)
    .map((spelling) => [...spelling])
    .map((points) => ({ points, maxSlips: Math.min(mostSlips, maxSlipsFor(points)) }))
    .filter(({ maxSlips }) => maxSlips > 0);
  const slipsIn = (folded: string) => {
    const names = folded.split(SPELLING_END).map((name) => [...name]);
    const counts = spellings.flatMap(({ points, maxSlips }) =>
      names.map((name) => countSlips(points, name, maxSlips)),
    );
    return Math.min(...counts);
  };

  const similar: SimilarName[] = [];
  const compared = new Set<string>();
  let left = MAX_READ;
  for (const { points, maxSlips } of spellings) {
    // Rows tell the length of the first spelling. The others may be far longer (별 and byeol) or a
    // little shorter (Альберт and albert).
    const rows = rowsUpToLength[reader.kind](points.length + 2 * maxSlips);
    for (const lookup of lookUpEdges(points, reader.vocabulary)) {
      const names = reader.listNames([], [lookup], left, rows);
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

/** Returns lookups that together find all names that are one slip away, and most that are two away. */
function lookUpEdges(points: string[], vocabulary: Vocabulary): Lookup[] {
  const [first = "", second = "", third = ""] = points;
  const [last = "", previous = ""] = points.toReversed();
  const end = END + last + previous;
  const beginning = (count: number) => {
    const [start = "", ...others] = trigramsOf(points.slice(0, count).join(""));
    return eachOf([START + start, ...vocabulary.pickRarest(others, MAX_BESIDE_MARKS)]);
  };
  const ending = (count: number) => {
    const others = count > 2 ? trigramsOf(points.slice(-count).join("")) : [];
    return eachOf([end, ...vocabulary.pickRarest(others, MAX_BESIDE_MARKS)]);
  };

  const { length } = points;
  const half = Math.ceil(length / 2);
  const kept = Math.max(2, length - 3);
  const lookups = [beginning(kept), ending(kept)];
  // Neither edge of four letters is left if those in the middle are swapped.
  if (length === 4) lookups.push(eachOf([START + first + third, END + last + second]));
  if (length > 5) lookups.push(eachOf([START + first + second, end]));
  if (length > 7) lookups.push(beginning(half), ending(half));
  return lookups;
}

/**
 * Returns how many slips a query or a spelling of it may have. Too many names are near a shorter one, and
 * a longer one takes too long: 400 times ﷺ fold to 7,200 letters.
 */
export function maxSlipsFor({ length }: string[]): number {
  if (length < 4 || length > MAX_QUERY_CODE_POINTS) return 0;
  return length < 8 ? 1 : 2;
}

/** Returns the number of slips between two texts, or Infinity if there are more than `maxSlips`. */
export function countSlips(a: string[], b: string[], maxSlips: number): number {
  if (Math.abs(a.length - b.length) > maxSlips) return Infinity;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  const rest = Math.min(a.length, b.length) - start;
  while (end < rest && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const x = a.slice(start, a.length - end);
  const y = b.slice(start, b.length - end);
  if (x.length + y.length === 0) return 0;
  // Each slip concerns at most two neighbouring letters.
  if (maxSlips === 0 || (maxSlips === 1 && x.length + y.length > 4)) return Infinity;

  const counts = [
    countSlips(x.slice(1), y.slice(1), maxSlips - 1),
    countSlips(x.slice(1), y, maxSlips - 1),
    countSlips(x, y.slice(1), maxSlips - 1),
  ];
  const isSwap = x[0] === y[1] && x[1] === y[0];
  if (isSwap) counts.push(countSlips(x.slice(2), y.slice(2), maxSlips - 1));
  return 1 + Math.min(...counts);
}
