/** The watcher of the snapshot: it looks for files, asks for a remote snapshot, and ends. */
import { expect, test } from "bun:test";
import { pino } from "pino";
import { watchSnapshot } from "../../src/server/watch-snapshot.ts";
import { SnapshotError } from "../../src/snapshot/format/layout.ts";
import { openSnapshot, type Replacement } from "../../src/snapshot/read/reload.ts";
import { makeSnapshot } from "../datasets.ts";
import { until } from "../support.ts";

const FETCH_EVERY_MS = 5;

/**
 * Opens a watcher and counts what it does. `fetch` is called for the remote snapshot, which is
 * `refused`. The first looks find `replacements`, and further ones nothing.
 */
function watch(
  fetch = async () => {},
  replacements: Replacement[] = [],
  look = async () => {},
  refused?: string,
) {
  const count = { looks: 0, forced: 0, fetches: 0, forcedFetches: 0 };
  const watched = {
    roadbook: {
      async refresh(isForced: boolean) {
        count.looks++;
        if (isForced) count.forced++;
        await look();
        return replacements.shift();
      },
    },
    remote: {
      async refresh(isForced = false) {
        count.fetches++;
        if (isForced) count.forcedFetches++;
        await fetch();
      },
      refused: () => refused,
    },
    metrics: undefined,
  };
  const watcher = watchSnapshot(watched, FETCH_EVERY_MS, pino({ level: "silent" }));
  return { watcher, count };
}

test("a watcher looks and asks until it is disposed of, and a later reload does nothing", async () => {
  const { watcher, count } = watch();
  await until(() => count.looks > 1 && count.fetches > 1);
  watcher[Symbol.dispose]();

  const before = { ...count };
  await watcher.reload();
  // Two looks would fit into this time.
  await Bun.sleep(500);
  expect(count).toEqual(before);
});

test("a look that does not end is the only one, except for a reload", async () => {
  const { watcher, count } = watch(undefined, [], () => new Promise(() => {}));
  await until(() => count.looks === 1);
  // Two more looks would fit into this time.
  await Bun.sleep(500);
  expect(count.looks).toBe(1);
  void watcher.reload();
  expect(count).toMatchObject({ looks: 2, forced: 1 });
  watcher[Symbol.dispose]();
});

test("a reload looks and asks at once", async () => {
  const { watcher, count } = watch();
  await watcher.reload();
  expect(count).toEqual({ looks: 1, forced: 1, fetches: 1, forcedFetches: 1 });
  watcher[Symbol.dispose]();
});

const refusal = { refused: new SnapshotError("is damaged") };

test("a refused snapshot is retried, but not at every look", async () => {
  const { watcher, count } = watch(undefined, [refusal]);
  await until(() => count.forced === 1);
  expect(count.looks).toBeGreaterThan(1);
  const { looks } = count;
  await until(() => count.looks > looks + 2);
  expect(count.forced).toBe(1);
  watcher[Symbol.dispose]();
});

test("nothing is retried before a refusal, or after a snapshot that is served", async () => {
  const { meta } = await openSnapshot(await makeSnapshot());
  for (const replacements of [[], [refusal, { meta }]]) {
    const { watcher, count } = watch(undefined, replacements);
    // The first retry would be due after five of them.
    await until(() => count.looks > 7);
    watcher[Symbol.dispose]();
    expect(count.forced).toBe(0);
  }
});

test("a remote snapshot that is refused is requested ever more rarely", async () => {
  const good = watch();
  const bad = watch(undefined, [], undefined, "is damaged");
  await until(() => good.count.fetches > 60);
  good.watcher[Symbol.dispose]();
  bad.watcher[Symbol.dispose]();
  // The twelfth would be due ten seconds after the first.
  expect(bad.count.fetches).toBeLessThan(12);
  expect(bad.count.fetches).toBeGreaterThan(0);
});

test("after a download that lasts longer than the watcher, there is no other", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { watcher, count } = watch(() => promise);
  await until(() => count.fetches === 1);
  watcher[Symbol.dispose]();

  resolve();
  await Bun.sleep(10 * FETCH_EVERY_MS);
  expect(count.fetches).toBe(1);
});
