/**
 * N-grams: the pieces of folded names that the index lists, and the pieces of a query to look up in
 * it. Pure: the caller knows which n-grams are common. ARCHITECTURE.md draws the idea.
 *
 * The rule: from every position of a name, the text that starts there is listed under its first
 * character, and under one character more for as long as the n-gram so far is *frequent*, that is, too
 * common to be read through. So the posting list of every other n-gram is short, and a query is either
 * itself an n-gram or begins with one whose posting list is short. Which n-grams are frequent decides
 * only how fast a search is, never what it finds.
 */
import { isWordStart } from "./rank.ts";
import { SPELLING_END } from "./spellings.ts";

/**
 * Boundary markers before an n-gram that starts a name or one of its later words, and after a name's end. Folding
 * drops them.
 */
export const START = "\u0091";
export const WORD = "\u0092";
export const END = "\u0093";
/** Between the n-grams of one name where they are handed to FTS5; folding drops this too. */
export const SEPARATOR = "\n";

export type Boundary = typeof START | typeof WORD | "";

/** An n-gram is this many code points at most, so that a thousand equal long names cost little. */
export const MAX_NGRAM = 16;

/** A query is looked up by this many of its n-grams at most; more would not shorten the list. */
const MAX_COVER = 3;

/** Code points between the n-grams of a text that has only frequent ones: each overlaps the next by 12. */
const COVER_STEP = 4;

/** Whether an n-gram is too common to be read through. */
type IsFrequent = (ngram: string) => boolean;

/** Every n-gram of a name in all its spellings, some more than once. */
export function ngramsOf(spellings: string, isFrequent: IsFrequent): string[] {
  const ngrams: string[] = [];
  const list = (ngram: string) => ngrams.push(ngram);
  for (const name of spellings.split(SPELLING_END)) {
    grow(START, name + END, 0, isFrequent, list);
    for (let at = 0; at < name.length; at += widthAt(name, at)) {
      grow("", name, at, isFrequent, list);
      if (at > 0 && isWordStart(name, at)) grow(WORD, name, at, isFrequent, list);
    }
  }
  return ngrams;
}

/**
 * The n-grams to look up for names in which `text` occurs after `boundary`: such a name is in the posting
 * lists of all of them. None is frequent, or all are, because the text has no other. Then they overlap, so
 * that few names have them all without having the text: only those that repeat 12 code points.
 */
export function coverOf(boundary: Boundary, text: string, isFrequent: IsFrequent): string[] {
  const beginning = grow(boundary, text, 0, isFrequent);
  const ngrams = isFrequent(beginning) ? [] : [beginning];
  const inside = text.replace(END, "");
  let from = beginning.length - boundary.length;
  while (from < inside.length && ngrams.length < MAX_COVER) {
    const next = grow("", inside, from, isFrequent);
    if (!isFrequent(next)) ngrams.push(next);
    from += next.length;
  }
  return ngrams.length > 0 ? ngrams : [beginning, ...overlap(inside, isFrequent)];
}

/** The n-grams of full length from every fourth code point on, or the first of them that is not frequent. */
function overlap(text: string, isFrequent: IsFrequent): string[] {
  const characters = [...text];
  const last = characters.length - MAX_NGRAM;
  const ngrams: string[] = [];
  for (let at = 0; at < last; ) {
    at = Math.min(at + COVER_STEP, last);
    const ngram = characters.slice(at, at + MAX_NGRAM).join("");
    if (!isFrequent(ngram)) return [grow("", ngram, 0, isFrequent)];
    ngrams.push(ngram);
  }
  return ngrams;
}

/** The first n-gram from a place on that is not frequent, or as far as there is text; `visit` gets all up to it. */
function grow(
  boundary: Boundary,
  text: string,
  from: number,
  isFrequent: IsFrequent,
  visit?: (ngram: string) => void,
): string {
  let ngram: string = boundary;
  let to = from;
  for (let length = 1; to < text.length && length <= MAX_NGRAM; length++) {
    to += widthAt(text, to);
    ngram = boundary + text.slice(from, to);
    visit?.(ngram);
    if (!isFrequent(ngram)) break;
  }
  return ngram;
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
