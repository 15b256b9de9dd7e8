/** The watcher of the snapshot: it looks for files, asks for a remote snapshot, and ends. */
import { expect, test } from "bun:test";
import { pino } from "pino";
import { SnapshotWatcher } from "../../src/server/watch-snapshot.ts";
import { until } from "../support.ts";

const FETCH_EVERY_MS = 5;

/** Opens a watcher and counts what it does. `fetch` is called for the remote snapshot. */
function watch(fetch: () => Promise<void>) {
  const count = { looks: 0, forced: 0, fetches: 0 };
  const watched = {
    roadbook: {
      async refresh(isForced: boolean) {
        count.looks++;
        if (isForced) count.forced++;
        return undefined;
      },
    },
    remote: {
      async refresh() {
        count.fetches++;
        await fetch();
      },
    },
    metrics: undefined,
  };
  const watcher = new SnapshotWatcher(watched, FETCH_EVERY_MS, pino({ level: "silent" }));
  return { watcher, count };
}

test("a watcher looks and asks until it is disposed of, and a later reload does nothing", async () => {
  const { watcher, count } = watch(async () => {});
  await until(() => count.looks > 1 && count.fetches > 1);
  watcher[Symbol.dispose]();

  const before = { ...count };
  await watcher.reload();
  // Two looks would fit into this time.
  await Bun.sleep(500);
  expect(count).toEqual(before);
});

test("a reload looks and asks at once", async () => {
  const { watcher, count } = watch(async () => {});
  await watcher.reload();
  expect(count).toEqual({ looks: 1, forced: 1, fetches: 1 });
  watcher[Symbol.dispose]();
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
