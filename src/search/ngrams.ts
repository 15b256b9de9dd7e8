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

/** Whether an n-gram is too common to be read through. */
export type IsFrequent = (ngram: string) => boolean;

/** Every n-gram of a folded name, some more than once. */
export function ngramsOf(name: string, isFrequent: IsFrequent): string[] {
  const ngrams: string[] = [];
  eachStart(name, (boundary, text, from) => {
    descend(isFrequent, boundary, text, from, (ngram) => ngrams.push(ngram));
  });
  return ngrams;
}

export interface Cover {
  /**
   * Every name that has the text at such a place is in the posting lists of all of these n-grams:
   * short ones where there are any, else the one of the text's beginning.
   */
  ngrams: string[];
  /** Whether it is the latter. */
  isFrequent: boolean;
}

/** The n-grams to look up for names in which `text` occurs after `boundary`. */
export function coverOf(boundary: Boundary, text: string, isFrequent: IsFrequent): Cover {
  const first = descend(isFrequent, boundary, text, 0);
  const beginning = boundary + text.slice(0, first.to);
  const ngrams = first.isFrequent ? [] : [beginning];
  const inside = text.replace(END, "");
  for (let from = first.to; from < inside.length && ngrams.length < MAX_COVER; ) {
    const next = descend(isFrequent, "", inside, from);
    if (!next.isFrequent) ngrams.push(inside.slice(from, next.to));
    from = next.to;
  }
  return ngrams.length > 0
    ? { ngrams, isFrequent: false }
    : { ngrams: [beginning], isFrequent: true };
}

/** Calls back for each place in a name from which n-grams are taken. */
function eachStart(
  name: string,
  visit: (boundary: Boundary, text: string, from: number) => void,
): void {
  visit(START, name + END, 0);
  for (let at = 0; at < name.length; at += widthAt(name, at)) {
    visit("", name, at);
    if (at > 0 && isWordStart(name, at)) visit(WORD, name, at);
  }
}

/** Walks from a boundary along `text` to the first n-gram that is not frequent, or as far as there is text. */
function descend(
  isFrequent: IsFrequent,
  boundary: Boundary,
  text: string,
  from: number,
  visit?: (ngram: string) => void,
): { to: number; isFrequent: boolean } {
  let to = from;
  for (let length = 1; to < text.length && length <= MAX_NGRAM; length++) {
    to += widthAt(text, to);
    const ngram = boundary + text.slice(from, to);
    visit?.(ngram);
    if (!isFrequent(ngram)) return { to, isFrequent: false };
  }
  return { to, isFrequent: true };
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
