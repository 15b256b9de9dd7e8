/** A long search pauses, so others are served meanwhile, and the snapshot may be replaced or closed. */
import { beforeAll, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { applyChanges } from "../../src/import/apply.ts";
import { createRoadbook } from "../../src/roadbook.ts";
import { openReloadable } from "../../src/snapshot/read/reload.ts";
import { makeSnapshot, user } from "../datasets.ts";
import { temporaryFolder, underLoad } from "../support.ts";

/** Enough for two slices. */
const LISTED = 20_000;
/** The words are common, but not together. Each of two slices ends in a pause. */
const SEARCH = "/search/users?q=ru+to";
const PAUSES = 2;
/** The id of the only user whose name has both. */
const SLOW = 100_000;
const change = [user(SLOW, "Toru the fast")];

let original: string;
beforeAll(async () => {
  original = await makeSnapshot(
    (function* () {
      for (let id = 1; id <= 2 * LISTED; id++)
        yield user(id, `${id > LISTED ? "ru" : "to"} ${id + 1e5}`);
      yield user(SLOW, "Toru the slow");
    })(),
  );
});

function copySnapshot(): string {
  const path = join(temporaryFolder(), "snapshot");
  copyFileSync(original, path);
  return path;
}

async function open(snapshot = copySnapshot()) {
  const options = { searchLimit: 0, page: true, allowIndexing: true };
  const roadbook = await createRoadbook({ ...options, snapshot });
  const ask = async (path: string) => {
    const response = await roadbook.fetch(new Request(`http://roadbook.test${path}`));
    return `${response.status} ${await response.text()}`;
  };
  return { roadbook, ask };
}

test("a profile is served while a search pauses", async () => {
  const { roadbook, ask } = await open();
  const served: string[] = [];
  const search = ask(SEARCH).then(() => served.push("search"));
  await nextTick();
  await ask("/users/public/1").then(() => served.push("profile"));
  await search;
  expect(served).toEqual(["profile", "search"]);
  await roadbook.close();
});

test("one search resumes in a tick", async () => {
  const { roadbook, ask } = await open();
  let areDone = false;
  const searches = Promise.all(Array.from({ length: 5 }, () => ask(SEARCH))).then((texts) => {
    areDone = true;
    return texts;
  });
  let ticks = 0;
  for (; !areDone; ticks++) await nextTick();
  expect(ticks).toBeGreaterThanOrEqual(5 * PAUSES);
  expect(new Set(await searches).size).toBe(1);
  await roadbook.close();
});

test.each([SEARCH, "/?q=ru+to"])(
  "if the snapshot is replaced in a pause, %s has the results of the new one",
  async (path) => {
    const snapshot = copySnapshot();
    const { roadbook, ask } = await open(snapshot);
    const before = await ask(path);
    const seen = await underLoad(
      async () => {
        // Without pauses, the clients would leave no time for the change.
        await nextTick();
        return ask(path);
      },
      async () => {
        await applyChanges(change, snapshot);
        await roadbook.refresh();
      },
    );
    const after = await ask(path);
    expect([before, after].map((text) => /the (slow|fast)/.exec(text)?.[1])).toEqual([
      "slow",
      "fast",
    ]);
    expect(seen).toEqual(new Set([before, after]));
    await roadbook.close();
  },
);

test("if the snapshot is replaced in a pause, the sitemap lists the pages of the new one", async () => {
  const snapshot = copySnapshot();
  const { roadbook, ask } = await open(snapshot);
  // The first and the last user, whom only the old snapshot has.
  const hidden = [1, SLOW];
  await applyChanges(
    hidden.map((id) => ({ type: "user", id, public: false })),
    snapshot,
  );
  const listed = (text: string) => hidden.filter((id) => text.includes(`/drivers/${id}<`));

  // They pause as well, each in a tick of its own, so the sitemap takes longer than the replacement.
  const searches = Array.from({ length: 100 }, () => ask(SEARCH));
  const sitemap = ask("/sitemap.xml");
  await roadbook.refresh();
  expect(listed(await sitemap)).toEqual([]);
  await Promise.all(searches);
  await roadbook.close();
});

test("the pages of a snapshot are listed once for the sitemaps of all hosts", async () => {
  const { roadbook } = await open();
  const ask = (host: string) => roadbook.fetch(new Request(`http://${host}/sitemap.xml`));
  for (const host of ["one.test", "two.test", "three.test"]) {
    let ticks = 0;
    let isDone = false;
    const response = Promise.resolve(ask(host)).finally(() => {
      isDone = true;
    });
    for (; !isDone; ticks++) await nextTick();
    expect(ticks > LISTED / 1000).toBe(host === "one.test");
    expect(await (await response).text()).toContain(`<loc>http://${host}/drivers/1<`);
  }
  await roadbook.close();
});

test("a search begins again only if the snapshot was replaced", async () => {
  const snapshot = copySnapshot();
  const reloadable = await openReloadable(snapshot);
  const hashes = [reloadable.current().sha256];
  const begun: string[] = [];
  let isReplaced = false;
  const found = reloadable.readWithPauses(function* ({ sha256, users }) {
    begun.push(sha256);
    do yield;
    while (!isReplaced);
    return users.findName(SLOW);
  });
  await applyChanges(change, snapshot);
  await reloadable.refresh();
  isReplaced = true;
  hashes.push(reloadable.current().sha256);
  expect(await found).toBe("Toru the fast");
  expect(begun).toEqual(hashes);
  reloadable.close();
});

test("a search that pauses while the server closes is a 503", async () => {
  const { roadbook, ask } = await open();
  const search = ask(SEARCH);
  const page = ask("/?q=ru+to");
  await roadbook.close();
  for (const text of [await search, await page]) expect(text).toStartWith("503 ");
});
