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

const lists = [0, 1, 2];

/**
 * The lists of names by rank: a few names that are spread over five blocks and often adjacent, and
 * sometimes so many in one block that it is a bitmap.
 */
const rank = fc.oneof(
  fc.nat(5 * BLOCK_DOCS),
  fc.integer({ min: BLOCK_DOCS - 3, max: BLOCK_DOCS + 3 }),
  fc.nat(40),
);
const few = fc.array(fc.tuple(rank, fc.subarray(lists)), { maxLength: 60 });
const many = Array.from({ length: 3000 }, (_, at) => BLOCK_DOCS + 2 * at);
const names = fc.tuple(few, fc.subarray(lists), fc.boolean()).map(([few, lists, isDense]) => {
  const dense = isDense ? many.map((rank): [number, number[]] => [rank, lists]) : [];
  return new Map([...dense, ...few].sort(([a], [b]) => a - b));
});

function write(names: Map<number, number[]>) {
  const db = sqlite.openWritable(":memory:").$client;
  createSchema(db);
  const writeList = createLongListWriter(db, "user");
  for (const list of lists) {
    const listed = [...names].filter(([, has]) => has.includes(list)).map(([rank]) => rank);
    expect(writeList(Uint32Array.from(listed))).toBe(list);
  }
  return db;
}

test("intersecting lists gives the ranks of the names that are in all of them", () => {
  const some = fc.uniqueArray(fc.nat(5 * BLOCK_DOCS));
  fc.assert(
    fc.property(names, fc.subarray(lists, { minLength: 1 }), some, (names, wanted, some) => {
      const db = write(names);
      const among = [...new Set([...some, ...names.keys()])].sort((a, b) => a - b);
      const expected = [...names]
        .filter(([, has]) => wanted.every((list) => has.includes(list)))
        .map(([rank]) => rank);
      const longLists = openLongLists(db, "user");
      expect([...longLists.intersect(wanted)]).toEqual(expected);
      expect([...longLists.filter(among, wanted)]).toEqual(expected);
      expect([...longLists.filter([], wanted)]).toEqual([]);
      db.close();
    }),
    { numRuns: runs(40) },
  );
});

test("changing lists gives the same rows as writing lists for the changed names", () => {
  fc.assert(
    fc.property(names, names, (before, after) => {
      const [db, expected] = [write(before), write(after)];
      const changes = openLongListChanges(db, "user");
      const ranks = [...new Set([...before.keys(), ...after.keys()])];
      for (const rank of ranks.sort((a, b) => a - b)) {
        for (const list of before.get(rank) ?? []) changes.set(list, rank, false);
        for (const list of after.get(rank) ?? []) changes.set(list, rank, true);
      }
      changes.finish();
      const rows = "SELECT * FROM user_long_list";
      expect(db.prepare(rows).all()).toEqual(expected.prepare(rows).all());
      db.close();
      expected.close();
    }),
    { numRuns: runs(40) },
  );
});
