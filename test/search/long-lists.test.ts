/** Tests long posting lists of several blocks, in both of their forms, against sets of ranks. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  BLOCK_DOCS,
  createLongListWriter,
  openLongListChanges,
  openLongLists,
} from "../../src/search/long-lists.ts";
import { createSchema } from "../../src/snapshot/format/schema.ts";
import { sqlite } from "../../src/sqlite/bun.ts";
import { runs } from "../runs.ts";

const ngrams = ["aa", "bb", "cc"];
const numbers = new Map(ngrams.map((ngram, list) => [ngram, list]));

/**
 * The n-grams of names by rank: a few that are spread over five blocks and often adjacent, and
 * sometimes so many in one block that it is a bitmap.
 */
const few = fc
  .array(
    fc.tuple(
      fc.oneof(
        fc.nat(5 * BLOCK_DOCS),
        fc.integer({ min: BLOCK_DOCS - 3, max: BLOCK_DOCS + 3 }),
        fc.nat(40),
      ),
      fc.subarray(ngrams),
    ),
    { maxLength: 60 },
  )
  .map((entries) => new Map(entries));
const many = Array.from({ length: 3000 }, (_, at) => BLOCK_DOCS + 2 * at);
const names = fc.tuple(few, fc.subarray(ngrams), fc.boolean()).map(([few, ngrams, isDense]) => {
  const dense = isDense ? many.map((rank): [number, string[]] => [rank, ngrams]) : [];
  return new Map([...dense, ...few].sort(([a], [b]) => a - b));
});

function open() {
  const db = sqlite.openWritable(":memory:").$client;
  createSchema(db);
  return db;
}

function write(db: ReturnType<typeof open>, names: Map<number, string[]>): void {
  const writeList = createLongListWriter(db, "user");
  for (const [ngram, list] of numbers) {
    const docIds = Uint32Array.from(
      [...names].filter(([, has]) => has.includes(ngram)),
      ([rank]) => rank,
    );
    expect(writeList(docIds)).toBe(list);
  }
}

const rows = (db: ReturnType<typeof open>) => db.prepare("SELECT * FROM user_long_list").all();

test("intersecting lists gives the ranks of the names that have all the n-grams", () => {
  fc.assert(
    fc.property(
      names,
      fc.subarray(ngrams, { minLength: 1 }),
      fc.uniqueArray(fc.nat(5 * BLOCK_DOCS)),
      (names, wanted, some) => {
        const db = open();
        write(db, names);
        const lists = wanted.map((ngram) => ngrams.indexOf(ngram));
        const among = [...new Set([...some, ...names.keys()])].sort((a, b) => a - b);
        const expected = [...names]
          .filter(([, has]) => wanted.every((ngram) => has.includes(ngram)))
          .map(([rank]) => rank);
        const longLists = openLongLists(db, "user");
        expect([...longLists.intersect(lists)]).toEqual(expected);
        expect([...longLists.filter(among, lists)]).toEqual(expected);
        expect([...longLists.filter([], lists)]).toEqual([]);
        db.close();
      },
    ),
    { numRuns: runs(40) },
  );
});

test("changing lists gives the same rows as writing lists for the changed names", () => {
  fc.assert(
    fc.property(names, names, (before, after) => {
      const [db, expected] = [open(), open()];
      write(db, before);
      const changes = openLongListChanges(db, "user");
      const ranks = [...new Set([...before.keys(), ...after.keys()])];
      for (const rank of ranks.sort((a, b) => a - b)) {
        for (const [ngram, list] of numbers) {
          if (before.get(rank)?.includes(ngram)) changes.set(list, rank, false);
          if (after.get(rank)?.includes(ngram)) changes.set(list, rank, true);
        }
      }
      changes.finish();
      write(expected, after);
      expect(rows(db)).toEqual(rows(expected));
      db.close();
      expected.close();
    }),
    { numRuns: runs(40) },
  );
});
