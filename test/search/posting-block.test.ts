/** A block of a posting list holds the ranks that were put in, whichever form it takes. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { intersect, listBits, setBit } from "../../src/search/bits.ts";
import {
  BLOCK_RANKS,
  decodeBlock,
  emptyBlock,
  encodeBlock,
} from "../../src/search/posting-block.ts";
import { runs } from "../runs.ts";

/** Ascending offsets, from none and the outermost to almost all. */
const offsets = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(0, 1, 31, 32, 127, 128, BLOCK_RANKS - 1)),
    fc.constantFrom(0, 0.0001, 0.01, 0.06, 0.07, 0.9),
    fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
  )
  .map(([edges, share, chances]) => {
    const set = new Set(edges);
    const chance = chances[Symbol.iterator]();
    const step = share > 0 ? 2 / share : Number.POSITIVE_INFINITY;
    for (let at = 0; at < BLOCK_RANKS; at += 1 + Math.floor(step * chance.next().value)) {
      set.add(at);
    }
    return [...set].sort((one, other) => one - other);
  });

test("what is encoded is decoded", () => {
  const forms = new Set<boolean>();
  fc.assert(
    fc.property(offsets, (offsets) => {
      const bytes = encodeBlock(Uint32Array.from(offsets));
      forms.add(bytes.length === BLOCK_RANKS / 8);
      expect(bytes.length).toBeLessThanOrEqual(BLOCK_RANKS / 8);
      expect([...listBits(decodeBlock(bytes))]).toEqual(offsets);
      // A driver may hand out a view that starts anywhere.
      const odd = new Uint8Array(bytes.length + 1);
      odd.set(bytes, 1);
      expect([...listBits(decodeBlock(odd.subarray(1)))]).toEqual(offsets);
    }),
    { numRuns: runs(20) },
  );
  expect(forms.size).toBe(2);
});

test("two blocks have in common what both hold", () => {
  fc.assert(
    fc.property(offsets, offsets, (some, others) => {
      const bits = decodeBlock(encodeBlock(Uint32Array.from(some)));
      const held = new Set(others);
      const common = some.filter((offset) => held.has(offset));
      expect(intersect(bits, decodeBlock(encodeBlock(Uint32Array.from(others))))).toBe(
        common.length > 0,
      );
      expect([...listBits(bits)]).toEqual(common);
    }),
    { numRuns: runs(8) },
  );
});

test("a bit is set and cleared, and no other with it", () => {
  const bits = emptyBlock();
  for (const offset of [0, 31, 32, BLOCK_RANKS - 1]) setBit(bits, offset);
  setBit(bits, 31, false);
  setBit(bits, 33, false);
  expect([...listBits(bits)]).toEqual([0, 32, BLOCK_RANKS - 1]);
});
