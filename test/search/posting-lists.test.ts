/** Tests that the posting lists of all names agree with the n-grams of each name. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { fold } from "../../src/search/fold.ts";
import { ngramsOf } from "../../src/search/ngrams.ts";
import { createPacker, listPostings } from "../../src/search/posting-lists.ts";
import { runs } from "../runs.ts";

// With a single letter, the same byte follows at all positions, however long the n-gram is.
const name = fc
  .constantFrom("ab1 -\u093cकがÀàŁ한🚚𐐨߿\uffee", "ab", "a", "𠀀")
  .chain((letters) =>
    fc
      .array(fc.constantFrom(...letters), { maxLength: 24, size: "max" })
      .map((characters) => fold(characters.join(""))),
  );

test("the posting lists are complete, in UTF-8 order, and show which n-grams are frequent", () => {
  fc.assert(
    fc.property(
      fc.array(name, { maxLength: 40 }),
      fc.integer({ min: 0, max: 9 }),
      (texts, threshold) => {
        const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
        const packer = createPacker(bytes);
        for (const [at, text] of texts.entries()) packer.add(text, 3 * at + 1);
        const lists = Array.from(
          // The next list overwrites this one, so its data is copied.
          listPostings(packer.packed, threshold),
          ({ size, ...list }) => ({ ...list, docIds: [...list.docIds.subarray(0, size)] }),
        );
        const frequent = new Set(
          lists.flatMap(({ ngram, count }) => (count > threshold ? [ngram] : [])),
        );
        const expected = new Map<string, number[]>();
        texts.forEach((text, at) => {
          for (const ngram of ngramsOf(text, (ngram) => frequent.has(ngram))) {
            expected.set(ngram, [...(expected.get(ngram) ?? []), 3 * at + 1]);
          }
        });
        expect(lists).toEqual(
          [...expected]
            .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
            .map(([ngram, docIds]) => ({
              ngram,
              docIds: [...new Set(docIds)],
              count: docIds.length,
            })),
        );
      },
    ),
    { numRuns: runs(100) },
  );
});
