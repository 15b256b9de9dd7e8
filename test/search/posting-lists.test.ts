/** The lists of all names at once are, list by list, those of the n-grams of each name. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { fold } from "../../src/search/fold.ts";
import { NAME_END, packNames } from "../../src/search/folded-names.ts";
import { type Boundary, ngramsOf, START, WORD } from "../../src/search/ngrams.ts";
import { group, listPostings, mostPlaces } from "../../src/search/posting-lists.ts";
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

test("the memory that sorting takes has a bound, whatever the names begin with", () => {
  const megabyte = 2 ** 20;
  expect(mostPlaces(megabyte)).toBe(megabyte / 8);
  expect(mostPlaces(100 * megabyte)).toBe(4 * megabyte);
  expect(mostPlaces(10_000 * megabyte)).toBe(4 * megabyte);
});

test("places are divided by their next byte, and only one byte is in a part that is too large", () => {
  const bytes = fc.uint32Array({ minLength: 256, maxLength: 256, max: 50 });
  const boundary = fc.constantFrom<Boundary>("", START, WORD);
  fc.assert(
    fc.property(bytes, boundary, fc.integer({ min: 1, max: 300 }), (counts, boundary, most) => {
      const parts = group({ boundary, text: [0xf0] }, counts, most);
      let next = 0;
      for (const { firstByte, lastByte, count } of parts) {
        expect(firstByte).toBeGreaterThanOrEqual(next);
        const listed = counts.slice(firstByte, lastByte + 1);
        if (boundary !== START && firstByte < NAME_END && lastByte > NAME_END) {
          listed[NAME_END - firstByte] = 0;
        }
        expect(listed.reduce((sum, one) => sum + one, 0)).toBe(count);
        if (firstByte !== lastByte) expect(count).toBeLessThanOrEqual(most);
        next = lastByte + 1;
      }
      const listed = parts.reduce((sum, { count }) => sum + count, 0);
      const ends = boundary === START ? 0 : (counts[NAME_END] ?? 0);
      expect(listed).toBe(counts.reduce((sum, one) => sum + one, 0) - ends);
    }),
    { numRuns: runs(100) },
  );
});

test("names that are all one letter have the lists that they have among others", () => {
  const texts = ["aaaa", "aaaaa", "aaaaaa", "\u{20000}\u{20000}\u{20000}"];
  const packing = packNames(texts.length);
  for (const [at, text] of texts.entries()) packing.add(at, at, text);
  const lists = Array.from(
    listPostings(packing.finish(), Uint32Array.of(1, 2, 3, 4), 1),
    ({ ngram, ngramBytes, ranks, size, count }) => {
      const text = ngram.toString("utf8", 0, ngramBytes);
      return `${text} ${ranks.subarray(0, size).join(",")} ${count}`;
    },
  );
  expect(lists.filter((list) => list.startsWith("a"))).toEqual([
    "a 1,2,3 15",
    "aa 1,2,3 12",
    "aaa 1,2,3 9",
    "aaaa 1,2,3 6",
    "aaaaa 2,3 3",
    "aaaaaa 3 1",
  ]);
  expect(lists.filter((list) => list.startsWith("\u{20000}"))).toEqual([
    "\u{20000} 4 3",
    "\u{20000}\u{20000} 4 2",
    "\u{20000}\u{20000}\u{20000} 4 1",
  ]);
});
