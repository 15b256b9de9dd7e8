/** Reading ahead, which lets a database work on the next pages while one is used. */
import { expect, test } from "bun:test";
import { readAhead } from "../../src/tables/read-ahead.ts";

/** A source of numbers, which logs what is requested of it and when it is closed. */
function createSource(failsAt = Number.POSITIVE_INFINITY) {
  const log: (number | "closed")[] = [];
  async function* count() {
    try {
      for (let at = 1; at <= 5; at++) {
        log.push(at);
        await Promise.resolve();
        if (at === failsAt) throw new Error(`${at} failed`);
        yield at;
      }
    } finally {
      log.push("closed");
    }
  }
  return { log, items: count() };
}

const settle = () => Bun.sleep(0);

test("items come in order, and two are requested before the one that is used", async () => {
  const { log, items } = createSource();
  const ahead = readAhead(items, 2);
  expect((await ahead.next()).value).toBe(1);
  await settle();
  expect(log).toEqual([1, 2, 3]);
  expect(await Array.fromAsync(ahead)).toEqual([2, 3, 4, 5]);
  expect(log).toEqual([1, 2, 3, 4, 5, "closed"]);
});

test("a reader that stops closes the source", async () => {
  const { log, items } = createSource();
  for await (const item of readAhead(items, 2)) {
    if (item === 2) break;
  }
  await settle();
  expect(log).toEqual([1, 2, 3, 4, "closed"]);
});

test("an error comes after the items before it, and closes the source", async () => {
  const { log, items } = createSource(3);
  const read: number[] = [];
  const reading = (async () => {
    for await (const item of readAhead(items, 2)) read.push(item);
  })();
  await expect(reading).rejects.toThrow("3 failed");
  expect(read).toEqual([1, 2]);
  expect(log).toEqual([1, 2, 3, "closed"]);
});

test("a reader that stops does not wait for a request that is never answered", async () => {
  async function* silent() {
    yield 1;
    await new Promise(() => {});
  }
  const ahead = readAhead(silent(), 2);
  expect((await ahead.next()).value).toBe(1);
  expect(await ahead.return(undefined)).toEqual({ done: true, value: undefined });
});

test("an error of a request that nobody awaits any more is ignored", async () => {
  const { log, items } = createSource(3);
  for await (const item of readAhead(items, 2)) {
    if (item === 1) break;
  }
  await settle();
  expect(log).toEqual([1, 2, 3, "closed"]);
});
