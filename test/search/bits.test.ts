/** Tests posting-list blocks in both of their forms, bitmaps and distances. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  BLOCK_DOCS,
  decodeBlock,
  encodeBlock,
  intersect,
  listBits,
} from "../../src/search/bits.ts";
import { runs } from "../runs.ts";

/** Generates offsets in ascending order: none, a few at the edges, or up to almost all. */
const offsets = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(0, 1, 31, 32, 127, 128, BLOCK_DOCS - 1)),
    fc.constantFrom(0, 0.0001, 0.01, 0.06, 0.07, 0.9),
    fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
  )
  .map(([edges, share, chances]) => {
    const set = new Set(edges);
    const chance = chances[Symbol.iterator]();
    const step = share > 0 ? 2 / share : Number.POSITIVE_INFINITY;
    for (let at = 0; at < BLOCK_DOCS; at += 1 + Math.floor(step * chance.next().value)) {
      set.add(at);
    }
    return [...set].sort((a, b) => a - b);
  });

test("a block holds the document ids that were encoded, and so do intersections", () => {
  const lengths = new Set<boolean>();
  fc.assert(
    fc.property(offsets, offsets, (a, b) => {
      const [bytes, others] = [a, b].map((list) => encodeBlock(Uint32Array.from(list)));
      if (!bytes || !others) throw new Error("not encoded");
      lengths.add(bytes.length === BLOCK_DOCS / 8);
      expect([...listBits(decodeBlock(bytes))]).toEqual(a);
      // A SQLite driver may return a view that starts at any offset in its buffer.
      const odd = new Uint8Array(bytes.length + 1);
      odd.set(bytes, 1);
      const bits = decodeBlock(odd.subarray(1));
      expect([...listBits(bits)]).toEqual(a);
      const held = new Set(b);
      const common = a.filter((offset) => held.has(offset));
      expect(intersect(bits, decodeBlock(others))).toBe(common.length > 0);
      expect([...listBits(bits)]).toEqual(common);
    }),
    { numRuns: runs(20) },
  );
  expect(lengths.size).toBe(2);
});
