/** The server reads a private copy, so nothing that happens to the file reaches a response. */
import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createRoadbook } from "../../src/roadbook.ts";
import { exportDataset } from "../../src/snapshot/read/export.ts";
import { makeLarge, makeSnapshot } from "../datasets.ts";
import { temporaryFolder } from "../support.ts";

async function open(snapshot: string, cacheDir = temporaryFolder()) {
  const roadbook = await createRoadbook({ snapshot, cacheDir, searchLimit: 0, page: true });
  const ids = Array.from({ length: 300 }, (_, at) => 1 + at * 17);
  const paths = [
    ...ids.flatMap((id) => [
      `/users/public/${id}`,
      `/users/${id}/achievements`,
      `/avatars/${id}.svg`,
    ]),
    ...["an", "er", "sol", "ex"].flatMap((q) => [
      `/search/users?q=${q}`,
      `/search/companies?q=${q}`,
    ]),
  ];
  const ask = async (path: string) => {
    const response = await roadbook.fetch(new Request(`http://a.test${path}`));
    return `${response.status} ${await response.text()}`;
  };
  return { roadbook, ask, askAll: () => Promise.all(paths.map(ask)) };
}

const disturbances: [string, (path: string) => void][] = [
  ["cut off", (path) => truncateSync(path, 5000)],
  ["emptied", (path) => truncateSync(path, 0)],
  ["longer by a byte", (path) => appendFileSync(path, "x")],
  ["overwritten with zeros", (path) => writeFileSync(path, Buffer.alloc(9e6))],
  ["deleted", (path) => rmSync(path)],
  [
    "replaced by a folder",
    (path) => {
      rmSync(path);
      mkdirSync(path);
    },
  ],
];

describe.each([
  ["large", () => makeLarge()],
  ["small", () => makeSnapshot()],
])("a %s snapshot is served unchanged after its file was", (_, make) => {
  test.each(disturbances)("%s", async (_, disturb) => {
    const snapshot = await make();
    const { roadbook, askAll } = await open(snapshot);
    const before = await askAll();
    disturb(snapshot);
    expect(await askAll()).toEqual(before);
    expect(await roadbook.refresh()).toMatchObject({ refused: { name: "SnapshotError" } });
    expect(await roadbook.refresh()).toBeUndefined();
    expect(await askAll()).toEqual(before);
    rmSync(snapshot, { recursive: true, force: true });
    copyFileSync(await make(), snapshot);
    expect(await roadbook.refresh()).toMatchObject({ meta: { counts: expect.any(Object) } });
    expect(await askAll()).toEqual(before);
    await roadbook.close();
  });
});

test("a file that is being overwritten is reported once, and served when it is complete", async () => {
  const [snapshot, other] = [await makeLarge(), await makeLarge(4500)];
  const { roadbook, askAll } = await open(snapshot);
  const before = await askAll();
  const bytes = readFileSync(other);
  const results: unknown[] = [];
  for (let size = 0; size < bytes.length; size += 1e6) {
    writeFileSync(snapshot, bytes.subarray(0, size));
    results.push(await roadbook.refresh());
    expect(await askAll()).toEqual(before);
  }
  expect(results.filter(Boolean)).toEqual([{ refused: expect.any(Error) }]);
  writeFileSync(snapshot, bytes);
  expect(await roadbook.refresh()).toMatchObject({ meta: { counts: { users: 4500 } } });
  expect(await askAll()).not.toEqual(before);
  await roadbook.close();
});

test("another bad file is reported again", async () => {
  const snapshot = await makeLarge();
  const { roadbook } = await open(snapshot);
  for (const text of ["bad", "worse"]) {
    writeFileSync(`${snapshot}.new`, text);
    renameSync(`${snapshot}.new`, snapshot);
    expect(await roadbook.refresh()).toMatchObject({ refused: { reason: expect.any(String) } });
  }
  await roadbook.close();
});

test("the copy has no name, and its folder is created", async () => {
  const cacheDir = join(temporaryFolder(), "cache/of/roadbook");
  const { roadbook, ask } = await open(await makeLarge(), cacheDir);
  expect(readdirSync(cacheDir)).toEqual([]);
  expect(await ask("/users/public/1")).toStartWith("200 ");
  await roadbook.close();
});

test("a copy that cannot be made is an error with the size, the folder and the flag", async () => {
  const notAFolder = join(temporaryFolder(), "file");
  writeFileSync(notAFolder, "");
  const snapshot = await makeLarge();
  const { size } = Bun.file(snapshot);
  await expect(open(snapshot, notAFolder)).rejects.toThrow(
    `${snapshot} cannot be copied (${Math.ceil(size / 1e6)} MB in ${notAFolder}): ` +
      "file already exists; serve takes another folder with --cache-dir",
  );
});

test("an export is complete even if the file is overwritten meanwhile", async () => {
  const snapshot = await makeLarge();
  const before = [...(await exportDataset(snapshot))];
  const lines: string[] = [];
  for (const line of await exportDataset(snapshot)) {
    if (lines.push(line) === 100) truncateSync(snapshot, 5000);
  }
  expect(lines).toEqual(before);
});
