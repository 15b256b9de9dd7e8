/** Highlights the letters of a name that match a query. */
import { spellers, spellQuery } from "../search/fold.ts";
import { Html, html } from "./html.ts";

const [open, close] = [new Html("<mark>"), new Html("</mark>")];

/**
 * Wraps each occurrence of the query in `<mark>`, or else each of its words. A letter may have
 * several characters in a spelling, such as "shch" for щ. If a match starts or ends inside one,
 * nothing is marked, and `spelling` shows why the name was found.
 */
export function markMatches(name: string, query: string) {
  // Each character together with its combining marks.
  const letters = name.match(/\P{M}\p{M}*|\p{M}+/gu) ?? [];
  let spelling: string | undefined;
  for (const spell of spellers) {
    const text = spell(name);
    const pieces = letters.map((letter) => (/^\s/.test(letter) ? " " : spell(letter)));
    for (const words of spellQuery(query).map((spelled) => listWords(text, spelled))) {
      if (words.length === 0) continue;
      spelling ??= text;
      // If folding depends on neighbouring letters, matches cannot be mapped back to letters.
      const found = pieces.join("") === text ? findLetters(pieces, words) : new Set();
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
