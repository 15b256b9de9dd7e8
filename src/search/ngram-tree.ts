/**
 * The n-gram trees that an index is built with: one that counts the n-grams it is shown, to find which are
 * frequent, and one of the n-grams that are frequent. Typed arrays, because a million names
 * have some million n-grams.
 */
import type { Boundary, NgramTree } from "./ngrams.ts";
import { START, WORD } from "./ngrams.ts";

export interface FrequentNgram {
  ngram: string;
  /** The number of times it was shown. */
  count: number;
}

export interface CountingTree extends NgramTree<number> {
  listFrequent(): Generator<FrequentNgram>;
}

/** A tree in which an n-gram is frequent once it was shown more than `threshold` times. */
export function createCountingTree(threshold: number): CountingTree {
  const nodes = createNodes();
  const isFrequent = (node: number) => nodes.countOf(node) > threshold;
  return {
    root: rootOf,
    isFrequent,
    child(parent, codePoint) {
      const node = nodes.findOrAdd(parent, codePoint);
      nodes.count(node, 1);
      return node;
    },
    *listFrequent() {
      for (const node of nodes.list()) {
        if (isFrequent(node)) yield { ngram: nodes.ngramOf(node), count: nodes.countOf(node) };
      }
    },
  };
}

/**
 * A tree in which exactly these n-grams are frequent. It is small beside the tree that counted them, and
 * so several times faster to walk: it stays in the processor's cache.
 */
export function createFrequentTree(frequent: Iterable<FrequentNgram>): NgramTree<number> {
  const nodes = createNodes();
  for (const { ngram, count } of frequent) {
    const boundary =
      boundaries.find((boundary) => boundary !== "" && ngram.startsWith(boundary)) ?? "";
    let node = rootOf(boundary);
    for (const character of ngram.slice(boundary.length)) {
      node = nodes.findOrAdd(node, character.codePointAt(0) ?? 0);
    }
    nodes.count(node, count);
  }
  return { root: rootOf, child: nodes.find, isFrequent: (node) => nodes.countOf(node) > 0 };
}

const boundaries: Boundary[] = ["", WORD, START];
const roots = { "": 0, [WORD]: 1, [START]: 2 } as const;

function rootOf(boundary: Boundary): number {
  return roots[boundary];
}

const MIN_SLOTS = 1 << 12;

/** Nodes are numbered; the first ones are the roots. */
function createNodes() {
  // Of each node its parent, its code point and its count, side by side: what is read together is
  // fetched together. The slots are an open-addressing hash of (parent, code point) to node.
  let fields = new Uint32Array(3 * (MIN_SLOTS / 2));
  let slots = new Uint32Array(MIN_SLOTS);
  let size = boundaries.length;

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
    for (let node = boundaries.length; node < size; node++) {
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
    ngramOf(node: number): string {
      let ngram = "";
      let at = node;
      while (at >= boundaries.length) {
        ngram = String.fromCodePoint(fields[3 * at + 1] ?? 0) + ngram;
        at = fields[3 * at] ?? 0;
      }
      return (boundaries[at] ?? "") + ngram;
    },
    *list(): Generator<number> {
      for (let node = boundaries.length; node < size; node++) yield node;
    },
  };
}
