/** If a large snapshot is overwritten in place, requests fail until there is a good file again. */
import { expect, test } from "bun:test";
import { appendFileSync, copyFileSync, renameSync, truncateSync } from "node:fs";
import { createRoadbook } from "../../src/roadbook.ts";
import { exportDataset } from "../../src/snapshot/read/export.ts";
import { makeLarge } from "../datasets.ts";

const paths = ["/users/public/1", "/users/1/achievements", "/search/users?q=an", "/avatars/1.svg"];

async function open(snapshot: string) {
  const roadbook = await createRoadbook({ snapshot, searchLimit: 0, page: true });
  const ask = async (path: string, headers = {}) =>
    roadbook.fetch(new Request(`http://roadbook.test${path}`, { headers }));
  const statuses = async () =>
    Promise.all([...paths, "/health"].map(async (path) => (await ask(path)).status));
  return { roadbook, ask, statuses };
}

const good = [200, 200, 200, 200, 200];
const bad = [503, 503, 503, 503, 503];

test("one byte appended to a snapshot makes requests fail, even for cached data", async () => {
  const snapshot = await makeLarge();
  const copy = `${snapshot}.copy`;
  copyFileSync(snapshot, copy);
  const bugs: unknown[] = [];
  const roadbook = await createRoadbook({ snapshot, onBug: (error) => bugs.push(error) });
  const ask = async () => (await roadbook.fetch(new Request(`http://a.test${paths[0]}`))).status;
  for (let times = 0; times < 3; times++) expect(await ask()).toBe(200);
  appendFileSync(snapshot, "x");
  expect(await ask()).toBe(503);
  // The file has its original size again, but it has been written to.
  truncateSync(snapshot, (await Bun.file(copy).stat()).size);
  expect(await ask()).toBe(503);
  expect(bugs).toEqual([]);
  await roadbook.close();
});

test("refresh reports a spoiled file once, and switches to a good replacement", async () => {
  const snapshot = await makeLarge();
  const { roadbook, ask, statuses } = await open(snapshot);
  expect(await statuses()).toEqual(good);
  const { built_at } = roadbook.meta();
  truncateSync(snapshot, 100_000);
  expect(await statuses()).toEqual(bad);
  expect((await ask("/drivers/1", { accept: "text/html" })).status).toBe(503);
  expect(await roadbook.refresh()).toMatchObject({
    isSpoiled: true,
    refused: { reason: "is being overwritten in place (replace it with mv, never cp)" },
  });
  for (let size = 90_000; size > 0; size -= 9_000) {
    truncateSync(snapshot, size);
    expect(await roadbook.refresh()).toBeUndefined();
    expect(await statuses()).toEqual(bad);
  }
  expect(roadbook.meta().built_at).toBe(built_at);
  copyFileSync(await makeLarge(), `${snapshot}.new`);
  renameSync(`${snapshot}.new`, snapshot);
  expect(await roadbook.refresh()).toMatchObject({ meta: { counts: { users: 5000 } } });
  expect(await statuses()).toEqual(good);
  await roadbook.close();
});

test("a file that was overwritten in place is served again after it is complete", async () => {
  const snapshot = await makeLarge();
  const { roadbook, statuses } = await open(snapshot);
  copyFileSync(await makeLarge(4500), snapshot);
  expect(await statuses()).toEqual(bad);
  expect(await roadbook.refresh()).toMatchObject({ isSpoiled: true });
  expect(await roadbook.refresh()).toMatchObject({ meta: { counts: { users: 4500 } } });
  expect(await statuses()).toEqual(good);
  await roadbook.close();
});

test("an export fails if the file is overwritten during the export", async () => {
  const snapshot = await makeLarge();
  const lines = await exportDataset(snapshot);
  expect(() => {
    for (const line of lines) if (line.includes('"id":100,')) appendFileSync(snapshot, "x");
  }).toThrow(`${snapshot} is being overwritten in place`);
});
