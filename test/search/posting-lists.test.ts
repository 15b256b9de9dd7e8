/** Tests that the posting lists of all names agree with the n-grams of each name. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { fold } from "../../src/search/fold.ts";
import { NAME_END, NamePacker } from "../../src/search/folded-names.ts";
import { type Boundary, ngramsOf, START, WORD } from "../../src/search/ngrams.ts";
import { groupByNextByte, listPostings, maxPositionsFor } from "../../src/search/posting-lists.ts";
import { runs } from "../runs.ts";

const word = fc
  .array(fc.constantFrom(..."ab1 -\u093cकがÀàŁ한🚚𐐨߿\uffee"), { maxLength: 24 })
  .map((characters) => fold(characters.join("")));

test("the posting lists are complete, in UTF-8 order, and show which n-grams are frequent", () => {
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 40 }),
      fc.integer({ min: 0, max: 9 }),
      (texts, threshold) => {
        const packer = new NamePacker(texts.length);
        for (const [at, text] of texts.entries()) packer.add(at, at, text);
        const docIds = Uint32Array.from(texts, (_, at) => 3 * at + 1);
        const lists = Array.from(
          // The next list overwrites this one, so its data is copied.
          listPostings(packer.finish(), docIds, threshold),
          ({ ngram, ngramBytes, docIds, size, count, isFrequent }) => ({
            ngram: Buffer.from(ngram.subarray(0, ngramBytes)).toString(),
            docIds: [...docIds.subarray(0, size)],
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
        const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(lists).toEqual(
          [...expected]
            .sort(([a], [b]) => compare(a, b))
            .map(([ngram, docIds]) => ({
              ngram,
              docIds: [...new Set(docIds)],
              count: docIds.length,
              isFrequent: docIds.length > threshold,
            })),
        );
      },
    ),
    { numRuns: runs(100) },
  );
});

test("the memory for sorting is bounded, however many names there are", () => {
  const megabyte = 2 ** 20;
  expect(maxPositionsFor(megabyte)).toBe(megabyte / 8);
  expect(maxPositionsFor(100 * megabyte)).toBe(4 * megabyte);
  expect(maxPositionsFor(10_000 * megabyte)).toBe(4 * megabyte);
});

test("a group of positions exceeds the maximum only if it has a single next byte", () => {
  const bytes = fc.uint32Array({ minLength: 256, maxLength: 256, max: 50 });
  const boundary = fc.constantFrom<Boundary>("", START, WORD);
  fc.assert(
    fc.property(bytes, boundary, fc.integer({ min: 1, max: 300 }), (counts, boundary, max) => {
      const parts = groupByNextByte({ boundary, text: [0xf0] }, counts, max);
      let next = 0;
      for (const { firstByte, lastByte, count } of parts) {
        expect(firstByte).toBeGreaterThanOrEqual(next);
        const listed = counts.slice(firstByte, lastByte + 1);
        if (boundary !== START && firstByte < NAME_END && lastByte > NAME_END) {
          listed[NAME_END - firstByte] = 0;
        }
        expect(listed.reduce((sum, count) => sum + count, 0)).toBe(count);
        if (firstByte !== lastByte) expect(count).toBeLessThanOrEqual(max);
        next = lastByte + 1;
      }
      const listed = parts.reduce((sum, { count }) => sum + count, 0);
      const ends = boundary === START ? 0 : (counts[NAME_END] ?? 0);
      expect(listed).toBe(counts.reduce((sum, count) => sum + count, 0) - ends);
    }),
    { numRuns: runs(100) },
  );
});

test("the posting lists are complete for a letter with too many positions for one part", () => {
  const texts = ["aaaa", "aaaaa", "aaaaaa", "\u{20000}\u{20000}\u{20000}"];
  const packer = new NamePacker(texts.length);
  for (const [at, text] of texts.entries()) packer.add(at, at, text);
  const lists = Array.from(
    listPostings(packer.finish(), Uint32Array.of(1, 2, 3, 4), 1),
    ({ ngram, ngramBytes, docIds, size, count }) => {
      const text = ngram.toString("utf8", 0, ngramBytes);
      return `${text} ${docIds.subarray(0, size).join(",")} ${count}`;
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
