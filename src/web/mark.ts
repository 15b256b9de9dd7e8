/** Highlights the letters of a name that match a query. */
import { LRUCache } from "lru-cache";
import { lazy } from "../domain/once.ts";
import { spellers } from "../search/fold.ts";
import { Html, html } from "./html.ts";

/** Some letters fold to 18 others. Marking 20 names of only such letters would take too long. */
const MAX_MARKED_LENGTH = 1000;

/** Names share most of their letters, so the spelling of each letter is kept. */
const cachedSpellers = lazy(() =>
  spellers.map((spell) => {
    const memoMethod = (letter: string) => (/^\s/.test(letter) ? " " : spell(letter));
    return { spell, cache: new LRUCache({ max: 4096, memoMethod }) };
  }),
);

/**
 * Wraps each occurrence of a spelling of the query in `<mark>`, or else each of its words, except
 * inside a letter that has several characters in a spelling, such as "shch" for щ.
 */
export function markMatches(name: string, spellings: string[]): Html {
  // Each character together with its combining marks.
  const letters = name.match(/\P{M}\p{M}*|\p{M}+/gu) ?? [];
  for (const { spell, cache } of cachedSpellers()) {
    const text = spell(name);
    if (text.length > MAX_MARKED_LENGTH) break;

    const pieces = letters.map((letter) => cache.memo(letter));
    // If folding depends on neighbouring letters, matches cannot be mapped back to letters.
    if (pieces.join("") !== text) continue;

    for (const query of spellings) {
      const found = findLetters(text, pieces, listWords(text, query));
      if (found.size === 0) continue;
      const marked = letters.map((letter, at) =>
        found.has(at) ? html`<mark>${letter}</mark>` : letter,
      );
      return new Html(html`${marked}`.text.replaceAll("</mark><mark>", ""));
    }
  }
  return html`${name}`;
}

/** The parts of the query to mark in `text`: the query itself, or else all of its words. */
function listWords(text: string, query: string): string[] {
  const words = text.includes(query) ? [query] : query.split(" ");
  // The search matches words separately only if each has at least two characters.
  return words.every((word) => word.length > 1 && text.includes(word)) ? words : [];
}

/** The indexes of the pieces in which a word occurs, if it begins and ends between pieces. */
function findLetters(text: string, pieces: string[], words: string[]): Set<number> {
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
