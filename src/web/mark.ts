/** Highlights the letters of a name that match a query. */
import { LRUCache } from "lru-cache";
import { spellers } from "../search/fold.ts";
import { Html, html } from "./html.ts";

const [open, close] = [new Html("<mark>"), new Html("</mark>")];

/** Names share most of their letters, so the spelling of each letter is kept. */
const spellings = spellers.map((spell) => {
  const memoMethod = (letter: string) => (/^\s/.test(letter) ? " " : spell(letter));
  return { spell, cache: new LRUCache({ max: 4096, memoMethod }) };
});

/**
 * Wraps each occurrence of a spelling of the query in `<mark>`, or else each of its words. A letter
 * may have several characters in a spelling, such as "shch" for щ. If a match starts or ends inside
 * one, nothing is marked, and `spelling` shows why the name was found.
 */
export function markMatches(name: string, queries: string[]) {
  // Each character together with its combining marks.
  const letters = name.match(/\P{M}\p{M}*|\p{M}+/gu) ?? [];
  let spelling: string | undefined;
  for (const { spell, cache } of spellings) {
    const text = spell(name);
    // Some letters fold to 18 others. Marking 20 names of only such letters would take too long.
    if (text.length > 1000) break;
    const lists = queries.map((query) => listWords(text, query)).filter(({ length }) => length > 0);
    if (lists.length === 0) continue;
    spelling ??= text;
    const pieces = letters.map((letter) => cache.memo(letter));
    // If folding depends on neighbouring letters, matches cannot be mapped back to letters.
    if (pieces.join("") !== text) continue;
    for (const words of lists) {
      const found = findLetters(pieces, words);
      if (found.size === 0) continue;
      const marked = letters.map((letter, at) => [
        found.has(at) && !found.has(at - 1) && open,
        letter,
        found.has(at) && !found.has(at + 1) && close,
      ]);
      return { name: html`${marked}`, spelling: undefined };
    }
  }
  return { name: html`${name}`, spelling: spelling === name.toLowerCase() ? undefined : spelling };
}

/** The parts of the query to mark in `text`: the query itself, or else all of its words. */
function listWords(text: string, query: string): string[] {
  const words = text.includes(query) ? [query] : query.split(" ");
  // The search matches words separately only if each has at least two characters.
  return words.every((word) => word.length > 1 && text.includes(word)) ? words : [];
}

/**
 * Returns the indexes of the pieces in which a word occurs, if it begins and ends between pieces.
 */
function findLetters(pieces: readonly string[], words: readonly string[]): Set<unknown> {
  const text = pieces.join("");
  const owners = pieces.flatMap((piece, index) => Array<number>(piece.length).fill(index));
  const isBoundary = (at: number) => owners[at - 1] !== owners[at];
  const found = new Set<number>();
  for (const word of words) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      const end = at + word.length;
      if (!isBoundary(at) || !isBoundary(end)) continue;
      for (const owner of owners.slice(at, end)) found.add(owner);
    }
  }
  return found;
}
