/** Highlights the letters of a name that match a query. */
import { LRUCache } from "lru-cache";
import { spellers } from "../search/fold.ts";
import { Html, html } from "./html.ts";

/** Names with longer spellings are not marked. One letter can fold to 18, and a name to 3,600. */
const MAX_MARKED = 1000;

/** Names share most of their letters, so the spelling of each letter is kept. */
const spellings = spellers.map((spell) => {
  const memoMethod = (letter: string) => (/^\s/.test(letter) ? " " : spell(letter));
  return { spell, cache: new LRUCache({ max: 4096, memoMethod }) };
});

/**
 * Wraps each occurrence of a query in `<mark>`, or else each of its words. `queries` are the
 * spellings of one query. A letter may have several characters in a spelling, such as "shch" for щ.
 * If a match starts or ends inside one, nothing is marked, and `spelling` shows why the name was
 * found.
 */
export function markMatches(name: string, queries: string[]) {
  // Each character together with its combining marks.
  const letters = name.match(/\P{M}\p{M}*|\p{M}+/gu) ?? [];
  let spelling: string | undefined;
  for (const { spell, cache } of spellings) {
    const text = spell(name);
    if (text.length > MAX_MARKED) break;
    const lists = queries.map((query) => listWords(text, query)).filter(({ length }) => length > 0);
    if (lists.length === 0) continue;
    spelling ??= text;
    const pieces = letters.map((letter) => cache.memo(letter));
    // If folding depends on neighbouring letters, matches cannot be mapped back to letters.
    if (pieces.join("") !== text) continue;
    for (const words of lists) {
      const found = findLetters(pieces, words);
      if (!found.includes(true)) continue;
      let marked = "";
      for (const [at, letter] of letters.entries()) {
        if (found[at] && !found[at - 1]) marked += "<mark>";
        marked += html`${letter}`.text;
        if (found[at] && !found[at + 1]) marked += "</mark>";
      }
      return { name: new Html(marked), spelling: undefined };
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

/** Returns for each piece whether a word occurs there that begins and ends between pieces. */
function findLetters(pieces: readonly string[], words: readonly string[]): boolean[] {
  const text = pieces.join("");
  const found = pieces.map(() => false);
  // Of the pieces that begin in the same place, all but the last are empty and stay unmarked.
  const indexAt = new Map<number, number>();
  let length = 0;
  for (const [index, piece] of [...pieces, ""].entries()) {
    indexAt.set(length, index);
    length += piece.length;
  }
  for (const word of words) {
    let next = 0;
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      const [from, end] = [indexAt.get(at), indexAt.get(at + word.length)];
      if (from === undefined || end === undefined) continue;
      for (next = Math.max(from, next); next < end; next++) found[next] = pieces[next] !== "";
    }
  }
  return found;
}
