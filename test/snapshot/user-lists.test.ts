/** That the lists of a user's row come out as they went in, in the order that readers rely on. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseTime } from "../../src/domain/time.ts";
import {
  packRoles,
  packUnlocks,
  unpackRoles,
  unpackUnlocks,
} from "../../src/snapshot/format/user-lists.ts";

const id = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.maxSafeInteger().map(Math.abs));
const count = fc.oneof(fc.nat(200), fc.maxSafeInteger().map(Math.abs));
const time = fc.oneof(
  fc
    .constantFrom("0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z")
    .map((text) => parseTime(text) ?? 0),
  fc.integer({ min: -100, max: 2_000_000_000 }),
);

test("roles, by id", () => {
  fc.assert(
    fc.property(fc.uniqueArray(id), (ids) => {
      expect(unpackRoles(packRoles(ids))).toEqual(ids.toSorted((one, other) => one - other));
    }),
  );
});

test("unlocks, newest first and then by id", () => {
  const unlock = fc.record({ achievementId: id, tier: count, unlockedAt: time });
  fc.assert(
    fc.property(fc.array(unlock), (unlocks) => {
      const expected = unlocks.toSorted(
        (one, other) =>
          other.unlockedAt - one.unlockedAt || one.achievementId - other.achievementId,
      );
      expect(unpackUnlocks(packUnlocks(unlocks))).toEqual(expected);
    }),
  );
});

test("what is empty takes no byte", () => {
  expect([packRoles([]), packUnlocks([])]).toEqual([null, null]);
  expect([unpackRoles(null), unpackUnlocks(null)]).toEqual([[], []]);
});
