/**
 * Highlights the parts of a name that match a query. A name that matches only by its Latin spelling
 * stays unmarked, because the table of spellings is too large for a browser. All functions are
 * pure.
 */
import { fold, writeDigraphs } from "../search/fold.ts";
import { Html, html } from "./html.ts";

/** A character together with its combining marks. */
const LETTER = /\P{M}\p{M}*|\p{M}+/gu;
const SPACE = /^\p{White_Space}/u;

const [open, close] = [new Html("<mark>"), new Html("</mark>")];
const spellings = [fold, (text: string) => fold(writeDigraphs(text))];

/**
 * Wraps each occurrence of the query in `<mark>`. If the query does not occur, wraps its words
 * instead.
 */
export function markMatches(name: string, query: string): Html {
  const letters = name.match(LETTER) ?? [];
  for (const spell of spellings) {
    const pieces = letters.map((letter) => (SPACE.test(letter) ? " " : spell(letter)));
    const found = findLetters(pieces, fold(query));
    // If folding depends on neighbouring letters, matches cannot be mapped back to letters.
    if (found.size === 0 || pieces.join("") !== spell(name)) continue;
    return html`${letters.map((letter, at) => [
      found.has(at) && !found.has(at - 1) && open,
      letter,
      found.has(at) && !found.has(at + 1) && close,
    ])}`;
  }
  return html`${name}`;
}

/**
 * Returns the indexes of the pieces that match the query or, if it does not occur, all of its
 * words.
 */
function findLetters(pieces: readonly string[], query: string): Set<number> {
  const text = pieces.join("");
  const owners = pieces.flatMap((piece, index) => Array<number>(piece.length).fill(index));
  const words = text.includes(query) ? [query] : query.split(" ");
  const found = new Set<number>();
  // The search matches words separately only if each has at least two characters.
  if (!words.every((word) => word.length > 1 && text.includes(word))) return found;
  for (const word of words) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      for (const owner of owners.slice(at, at + word.length)) found.add(owner);
    }
  }
  return found;
}
