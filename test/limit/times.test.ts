/** Owns the proof that rings of chunks behave as plain lists of times do. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createTimes } from "../../src/limit/times.ts";

const SLOTS = 3;

test("a ring holds what a list holds, in order, whatever is pushed, shifted and cleared", () => {
  const step = fc.record({
    slot: fc.nat(SLOTS - 1),
    push: fc.nat(70),
    shift: fc.nat(70),
    clear: fc.integer({ min: 0, max: 20 }).map((n) => n === 0),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const times = createTimes(SLOTS);
      const lists: number[][] = Array.from({ length: SLOTS }, () => []);
      let time = 2 ** 32 - 1000;
      for (const { slot, push, shift, clear } of steps) {
        const list = lists[slot] as number[];
        for (let i = 0; i < push; i++) {
          times.push(slot, ++time);
          list.push(time % 2 ** 32);
        }
        for (let i = 0; i < shift && list.length > 0; i++) {
          expect(times.oldest(slot)).toBe(list.shift() as number);
          times.shift(slot);
        }
        if (clear) {
          times.clear(slot);
          list.length = 0;
        }
        lists.forEach((held, i) => {
          expect(times.count(i)).toBe(held.length);
          if (held.length > 0) expect(times.oldest(i)).toBe(held[0] as number);
        });
      }
    }),
  );
});

test("a slot that slides at the same count for long keeps its order", () => {
  for (const held of [1, 14, 15, 16, 29, 30, 31, 45]) {
    const times = createTimes(1);
    for (let i = 0; i < held; i++) times.push(0, i);
    for (let i = 0; i < 1000; i++) {
      expect(times.oldest(0)).toBe(i);
      times.shift(0);
      times.push(0, held + i);
      expect(times.count(0)).toBe(held);
    }
  }
});

test("a slot that lets go of most of its times gives their memory back to others", () => {
  const times = createTimes(40);
  const before = process.memoryUsage.rss();
  for (let slot = 0; slot < 40; slot++) {
    for (let i = 0; i < 500_000; i++) times.push(slot, i);
    while (times.count(slot) > 1) times.shift(slot);
    expect(times.oldest(slot)).toBe(499_999);
  }
  // 2.1 MB for the times of one slot at a time; 85 MB if each kept its own.
  expect(process.memoryUsage.rss() - before).toBeLessThan(40e6);
});
