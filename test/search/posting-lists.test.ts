/** The lists of all names at once are, list by list, those of the n-grams of each name. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { fold } from "../../src/search/fold.ts";
import { packNames } from "../../src/search/folded-names.ts";
import { ngramsOf } from "../../src/search/ngrams.ts";
import { listPostings } from "../../src/search/posting-lists.ts";
import { runs } from "../runs.ts";

const word = fc
  .array(fc.constantFrom(..."ab1 -\u093cकがÀàŁ한🚚𐐨߿\uffee"), { maxLength: 24 })
  .map((characters) => fold(characters.join("")));

test("they have what the names have, in the order of UTF-8, and which are frequent", () => {
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 40 }),
      fc.integer({ min: 0, max: 9 }),
      (texts, most) => {
        const packing = packNames(texts.length);
        for (const [at, text] of texts.entries()) packing.add(at, at, text);
        const ranks = Uint32Array.from(texts, (_, at) => 3 * at + 1);
        const lists = Array.from(
          // Each is gone when the next one comes.
          listPostings(packing.finish(), ranks, most),
          ({ ngram, ngramBytes, ranks, size, count, isFrequent }) => ({
            ngram: Buffer.from(ngram.subarray(0, ngramBytes)).toString(),
            ranks: [...ranks.subarray(0, size)],
            count,
            isFrequent,
          }),
        );
        const frequent = new Set(lists.flatMap((list) => (list.isFrequent ? [list.ngram] : [])));
        const expected = new Map<string, number[]>();
        texts.forEach((text, at) => {
          for (const ngram of ngramsOf(text, (ngram) => frequent.has(ngram))) {
            expected.set(ngram, [...(expected.get(ngram) ?? []), 3 * at + 1]);
          }
        });
        const compare = (one: string, other: string) =>
          Buffer.compare(Buffer.from(one), Buffer.from(other));
        expect(lists).toEqual(
          [...expected]
            .sort(([one], [other]) => compare(one, other))
            .map(([ngram, ranks]) => ({
              ngram,
              ranks: [...new Set(ranks)],
              count: ranks.length,
              isFrequent: ranks.length > most,
            })),
        );
      },
    ),
    { numRuns: runs(100) },
  );
});
