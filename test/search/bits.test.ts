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

test("decoding a block returns the document ids that were encoded", () => {
  const forms = new Set<boolean>();
  fc.assert(
    fc.property(offsets, (offsets) => {
      const bytes = encodeBlock(Uint32Array.from(offsets));
      forms.add(bytes.length === BLOCK_DOCS / 8);
      expect(bytes.length).toBeLessThanOrEqual(BLOCK_DOCS / 8);
      expect([...listBits(decodeBlock(bytes))]).toEqual(offsets);
      // A SQLite driver may return a view that starts at any offset in its buffer.
      const odd = new Uint8Array(bytes.length + 1);
      odd.set(bytes, 1);
      expect([...listBits(decodeBlock(odd.subarray(1)))]).toEqual(offsets);
    }),
    { numRuns: runs(20) },
  );
  expect(forms.size).toBe(2);
});

test("the intersection of two blocks contains the document ids that are in both", () => {
  fc.assert(
    fc.property(offsets, offsets, (a, b) => {
      const bits = decodeBlock(encodeBlock(Uint32Array.from(a)));
      const held = new Set(b);
      const common = a.filter((offset) => held.has(offset));
      expect(intersect(bits, decodeBlock(encodeBlock(Uint32Array.from(b))))).toBe(
        common.length > 0,
      );
      expect([...listBits(bits)]).toEqual(common);
    }),
    { numRuns: runs(8) },
  );
});
