/**
 * Grams: the pieces of folded names that the index lists, and the pieces of a query to look up in
 * it. Pure: which grams are common is asked of a {@link GramTree}. ARCHITECTURE.md draws the idea.
 *
 * The rule: from every position of a name, the text that starts there is listed under its first
 * character, and under one character more for as long as the gram so far is *open*, that is, too
 * common to be read through. So every gram that is not open has a short list, and a query is either
 * itself a gram or begins with one whose list is short. Which grams are open decides only how fast
 * an answer is, never what it is.
 */
import { isWordStart } from "./rank.ts";

/**
 * Marks before a gram that starts a name or one of its later words, and after a name's end. Folding
 * drops them.
 */
export const START = "\u0091";
export const WORD = "\u0092";
export const END = "\u0093";
/** Between the grams of one name where they are handed to FTS5; folding drops this too. */
export const SEPARATOR = "\n";

export type Mark = typeof START | typeof WORD | "";

/** A gram is this many code points at most, so that a thousand equal long names cost little. */
const MAX_GRAM = 16;

/** A query is looked up by this many of its grams at most; more would not shorten the list. */
const MAX_COVER = 3;

/** The grams as a tree: a gram's child has one code point more. */
export interface GramTree<Node> {
  root(mark: Mark): Node;
  /** The child of an open gram; there is none (undefined) when no name has it. */
  child(node: Node, codePoint: number): Node | undefined;
  isOpen(node: Node): boolean;
}

/** Every gram of a folded name, some more than once. */
export function gramsOf<Node>(name: string, tree: GramTree<Node>): string[] {
  const grams: string[] = [];
  eachStart(name, (mark, text, from) => {
    descend(tree, mark, text, from, (to) => grams.push(mark + text.slice(from, to)));
  });
  return grams;
}

/** Shows the tree a folded name, gram by gram, for a tree that counts what it is shown. */
export function countGrams<Node>(name: string, tree: GramTree<Node>): void {
  eachStart(name, (mark, text, from) => {
    descend(tree, mark, text, from);
  });
}

export interface Cover {
  /**
   * Every name that has the text at such a place is in the lists of all of these grams: short lists
   * where there are any, else the one of the text's beginning.
   */
  grams: string[];
  /** Whether that is a long list. */
  isOpen: boolean;
}

/** The grams to look up for names in which `text` occurs after `mark`. */
export function coverOf<Node>(mark: Mark, text: string, tree: GramTree<Node>): Cover {
  const first = descend(tree, mark, text, 0);
  const beginning = mark + text.slice(0, first.to);
  const grams = first.isOpen ? [] : [beginning];
  const inside = text.replace(END, "");
  for (let from = first.to; from < inside.length && grams.length < MAX_COVER; ) {
    const next = descend(tree, "", inside, from);
    if (!next.isOpen) grams.push(inside.slice(from, next.to));
    from = next.to;
  }
  return grams.length > 0 ? { grams, isOpen: false } : { grams: [beginning], isOpen: true };
}

/** Calls back for each place in a name from which grams are taken. */
function eachStart(name: string, visit: (mark: Mark, text: string, from: number) => void): void {
  visit(START, name + END, 0);
  for (let at = 0; at < name.length; at += widthAt(name, at)) {
    visit("", name, at);
    if (at > 0 && isWordStart(name, at)) visit(WORD, name, at);
  }
}

/** Walks from a mark along `text` to the first gram that is not open, or as far as there is text. */
function descend<Node>(
  tree: GramTree<Node>,
  mark: Mark,
  text: string,
  from: number,
  visit?: (to: number) => void,
): { to: number; isOpen: boolean } {
  let node = tree.root(mark);
  let to = from;
  for (let length = 1; to < text.length; length++) {
    const child = tree.child(node, text.codePointAt(to) ?? 0);
    to += widthAt(text, to);
    visit?.(to);
    if (child === undefined || !tree.isOpen(child)) return { to, isOpen: false };
    if (length === MAX_GRAM) break;
    node = child;
  }
  return { to, isOpen: true };
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
