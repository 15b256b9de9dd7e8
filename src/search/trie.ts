/**
 * The gram tree that an index is built with: it counts the grams it is shown and opens those that
 * come too often. Typed arrays, because a million names have some million grams.
 */
import type { GramTree, Mark } from "./grams.ts";
import { START, WORD } from "./grams.ts";

export interface Trie extends GramTree<number> {
  /** The same tree, no longer counting nor growing. */
  frozen: GramTree<number>;
  /** Every open gram with the number of times it was shown. */
  openGrams(): Generator<{ gram: string; count: number }>;
}

const roots = { "": 0, [WORD]: 1, [START]: 2 } as const;
const rootMarks = Object.keys(roots) as Mark[];
const MIN_SLOTS = 1 << 12;

/** A tree in which a gram is open once it was shown more than `threshold` times. */
export function createTrie(threshold: number): Trie {
  // Nodes, by number: 12 bytes each. The slots are an open-addressing hash of (parent, code point).
  let parents = new Uint32Array(MIN_SLOTS / 2);
  let codePoints = new Uint32Array(MIN_SLOTS / 2);
  let counts = new Uint32Array(MIN_SLOTS / 2);
  let slots = new Uint32Array(MIN_SLOTS);
  let size = rootMarks.length;

  function slotOf(parent: number, codePoint: number): number {
    const mask = slots.length - 1;
    let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(codePoint, 0x85ebca6b);
    hash ^= hash >>> 15;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const node = slots[slot] ?? 0;
      if (node === 0 || (parents[node] === parent && codePoints[node] === codePoint)) return slot;
    }
  }

  function grow(): void {
    parents = doubled(parents);
    codePoints = doubled(codePoints);
    counts = doubled(counts);
    slots = new Uint32Array(slots.length * 2);
    for (let node = rootMarks.length; node < size; node++) {
      slots[slotOf(parents[node] ?? 0, codePoints[node] ?? 0)] = node;
    }
  }

  function add(parent: number, codePoint: number): number {
    if (size === parents.length) grow();
    const node = size++;
    slots[slotOf(parent, codePoint)] = node;
    parents[node] = parent;
    codePoints[node] = codePoint;
    return node;
  }

  function find(parent: number, codePoint: number): number | undefined {
    return slots[slotOf(parent, codePoint)] || undefined;
  }

  function gramOf(node: number): string {
    let gram = "";
    let at = node;
    while (at >= rootMarks.length) {
      gram = String.fromCodePoint(codePoints[at] ?? 0) + gram;
      at = parents[at] ?? 0;
    }
    return (rootMarks[at] ?? "") + gram;
  }

  const root = (mark: Mark) => roots[mark];
  const isOpen = (node: number) => (counts[node] ?? 0) > threshold;

  return {
    root,
    isOpen,
    child(parent, codePoint) {
      const node = find(parent, codePoint) ?? add(parent, codePoint);
      counts[node] = (counts[node] ?? 0) + 1;
      return node;
    },
    frozen: { root, isOpen, child: find },
    *openGrams() {
      for (let node = rootMarks.length; node < size; node++) {
        if (isOpen(node)) yield { gram: gramOf(node), count: counts[node] ?? 0 };
      }
    },
  };
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}
