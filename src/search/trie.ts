/**
 * The gram trees that an index is built with: one that counts the grams it is shown and opens those
 * that come too often, and one of the grams that are open. Typed arrays, because a million names
 * have some million grams.
 */
import type { GramTree, Mark } from "./grams.ts";
import { START, WORD } from "./grams.ts";

export interface OpenGram {
  gram: string;
  /** The number of times it was shown. */
  count: number;
}

export interface CountingTree extends GramTree<number> {
  listOpen(): Generator<OpenGram>;
}

/** A tree in which a gram is open once it was shown more than `threshold` times. */
export function createCountingTree(threshold: number): CountingTree {
  const nodes = createNodes();
  const isOpen = (node: number) => nodes.countOf(node) > threshold;
  return {
    root: rootOf,
    isOpen,
    child(parent, codePoint) {
      const node = nodes.findOrAdd(parent, codePoint);
      nodes.count(node, 1);
      return node;
    },
    *listOpen() {
      for (const node of nodes.list()) {
        if (isOpen(node)) yield { gram: nodes.gramOf(node), count: nodes.countOf(node) };
      }
    },
  };
}

/**
 * A tree in which exactly these grams are open. It is small beside the tree that counted them, and
 * so several times faster to walk: it stays in the processor's cache.
 */
export function createOpenTree(open: Iterable<OpenGram>): GramTree<number> {
  const nodes = createNodes();
  for (const { gram, count } of open) {
    const mark = rootMarks.find((mark) => mark !== "" && gram.startsWith(mark)) ?? "";
    let node = rootOf(mark);
    for (const character of gram.slice(mark.length)) {
      node = nodes.findOrAdd(node, character.codePointAt(0) ?? 0);
    }
    nodes.count(node, count);
  }
  return { root: rootOf, child: nodes.find, isOpen: (node) => nodes.countOf(node) > 0 };
}

const rootMarks: Mark[] = ["", WORD, START];
const roots = { "": 0, [WORD]: 1, [START]: 2 } as const;

function rootOf(mark: Mark): number {
  return roots[mark];
}

const MIN_SLOTS = 1 << 12;

/** Nodes are numbered; the first ones are the roots. */
function createNodes() {
  // Of each node its parent, its code point and its count, side by side: what is read together is
  // fetched together. The slots are an open-addressing hash of (parent, code point) to node.
  let fields = new Uint32Array(3 * (MIN_SLOTS / 2));
  let slots = new Uint32Array(MIN_SLOTS);
  let size = rootMarks.length;

  function slotOf(parent: number, codePoint: number): number {
    const mask = slots.length - 1;
    let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(codePoint, 0x85ebca6b);
    hash ^= hash >>> 15;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const node = slots[slot] ?? 0;
      if (node === 0) return slot;
      if (fields[3 * node] === parent && fields[3 * node + 1] === codePoint) return slot;
    }
  }

  function grow(): void {
    const larger = new Uint32Array(fields.length * 2);
    larger.set(fields);
    fields = larger;
    slots = new Uint32Array(slots.length * 2);
    for (let node = rootMarks.length; node < size; node++) {
      slots[slotOf(fields[3 * node] ?? 0, fields[3 * node + 1] ?? 0)] = node;
    }
  }

  function add(parent: number, codePoint: number): number {
    if (2 * size === slots.length) grow();
    const node = size++;
    slots[slotOf(parent, codePoint)] = node;
    fields[3 * node] = parent;
    fields[3 * node + 1] = codePoint;
    return node;
  }

  const find = (parent: number, codePoint: number): number | undefined =>
    slots[slotOf(parent, codePoint)] || undefined;

  return {
    find,
    findOrAdd: (parent: number, codePoint: number) =>
      find(parent, codePoint) ?? add(parent, codePoint),
    count(node: number, by: number): void {
      fields[3 * node + 2] = (fields[3 * node + 2] ?? 0) + by;
    },
    countOf: (node: number): number => fields[3 * node + 2] ?? 0,
    gramOf(node: number): string {
      let gram = "";
      let at = node;
      while (at >= rootMarks.length) {
        gram = String.fromCodePoint(fields[3 * at + 1] ?? 0) + gram;
        at = fields[3 * at] ?? 0;
      }
      return (rootMarks[at] ?? "") + gram;
    },
    *list(): Generator<number> {
      for (let node = rootMarks.length; node < size; node++) yield node;
    },
  };
}
