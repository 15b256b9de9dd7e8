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
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createRoadbook } from "../../src/roadbook.ts";
import { exportDataset } from "../../src/snapshot/format/records.ts";
import { community, makeLarge, makeSnapshot, runSql, user } from "../datasets.ts";
import { temporaryFolder } from "../support.ts";

async function open(snapshot: string, cacheDir = temporaryFolder()) {
  const roadbook = await createRoadbook({ snapshot, cacheDir, searchLimit: 0, page: true });
  const paths = [
    ...[1, 42, 171, 494].flatMap((id) => [`/users/public/${id}`, `/users/${id}/achievements`]),
    ...["an", "er", "sol"].flatMap((q) => [`/search/users?q=${q}`, `/search/companies?q=${q}`]),
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

describe("a snapshot is served unchanged after its file was", () => {
  // A small snapshot is in memory, so one way to disturb it is enough.
  test.each([
    ...disturbances.map(([what, disturb]) => [what, disturb, makeLarge] as const),
    ["cut off, and is small", (path: string) => truncateSync(path, 5000), makeSnapshot] as const,
  ])("%s", async (_, disturb, make) => {
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
  const snapshot = await makeLarge();
  const other = await makeLarge(4500);
  const { roadbook, askAll } = await open(snapshot);
  const before = await askAll();
  const bytes = readFileSync(other);
  const results: unknown[] = [];
  for (let size = 0; size < bytes.length; size += 4e6) {
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

/** Returns why the file is not served, as /health shows it, and checks that the old one is. */
async function refusalOf({ roadbook, ask }: Awaited<ReturnType<typeof open>>) {
  expect(await ask("/users/public/44")).toStartWith("200 ");
  const health = JSON.parse((await ask("/health")).slice(4));
  expect(health.snapshot.sha256).toBe(roadbook.meta().sha256);
  return health.refused_replacement;
}

test("each bad replacement is reported once, and /health shows why without its path", async () => {
  const snapshot = await makeSnapshot();
  const good = readFileSync(snapshot);
  const opened = await open(snapshot);
  const { roadbook, ask } = opened;
  expect(await refusalOf(opened)).toBeNull();
  for (const [bytes, reason] of [
    ["", /^is empty$/],
    [good.subarray(0, good.length / 2).toString("latin1"), /^is damaged: it has \d+ bytes instead/],
    ["not a snapshot at all".repeat(100), /^is not a Roadbook snapshot$/],
  ] as [string, RegExp][]) {
    writeFileSync(`${snapshot}.new`, bytes, "latin1");
    renameSync(`${snapshot}.new`, snapshot);
    expect(await roadbook.refresh()).toMatchObject({ refused: { reason: expect.any(String) } });
    for (const isForced of [false, true]) expect(await roadbook.refresh(isForced)).toBeUndefined();
    expect(await refusalOf(opened)).toMatch(reason);
  }
  rmSync(snapshot);
  await roadbook.refresh();
  expect(await refusalOf(opened)).toBe("cannot be read: no such file or directory");
  symlinkSync(snapshot, snapshot); // links to itself
  await roadbook.refresh();
  expect(await refusalOf(opened)).not.toContain(snapshot);
  rmSync(snapshot);
  copyFileSync(await makeSnapshot([...community, user(99, "New One")]), snapshot);
  await roadbook.refresh();
  expect(await ask("/users/public/99")).toStartWith("200 ");
  expect(await refusalOf(opened)).toBeNull();
  await roadbook.close();
});

test("a bug while a replacement is opened is thrown as it is, and /health shows it", async () => {
  const snapshot = await makeSnapshot();
  const opened = await open(snapshot);
  copyFileSync(snapshot, `${snapshot}.new`);
  await runSql(`${snapshot}.new`, "UPDATE meta SET value = '{' WHERE key = 'counts'");
  renameSync(`${snapshot}.new`, snapshot);
  await expect(opened.roadbook.refresh()).rejects.toBeInstanceOf(SyntaxError);
  expect(await opened.roadbook.refresh()).toBeUndefined();
  expect(await refusalOf(opened)).toBe("cannot be opened because of a bug");
  await opened.roadbook.close();
});

test("a file that was missing for a moment is served again, at once if that is forced", async () => {
  const snapshot = await makeSnapshot();
  const opened = await open(snapshot);
  const folder = join(snapshot, "..");
  renameSync(folder, `${folder}-away`);
  await opened.roadbook.refresh();
  expect(await refusalOf(opened)).not.toBeNull();
  renameSync(`${folder}-away`, folder);
  await opened.roadbook.refresh(true);
  expect(await refusalOf(opened)).toBeNull();
  await opened.roadbook.close();
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
    `${snapshot} cannot be copied (needs ${Math.ceil(size / 1e6)} MB in ${notAFolder}): ` +
      "file already exists; choose another folder with --cache-dir of serve",
  );
});

test("/health has no path, whatever the error of a replacement says, but the message has it", async () => {
  const snapshot = await makeSnapshot();
  const cacheDir = join(temporaryFolder(), "cache");
  const opened = await open(snapshot, cacheDir);
  writeFileSync(cacheDir, "");
  const large = await makeLarge();
  const needs = `needs ${Math.ceil(Bun.file(large).size / 1e6)} MB in`;
  for (const [replace, reason, detail] of [
    [
      () => renameSync(large, snapshot),
      `cannot be copied (${needs} the cache): file already exists`,
      `cannot be copied (${needs} ${cacheDir}): file already exists; choose another folder`,
    ],
    [
      () => {
        mkdirSync(`${snapshot}.new`);
        rmSync(snapshot);
        renameSync(`${snapshot}.new`, snapshot);
      },
      "cannot be read: it is a folder; if it has CSV files, build a snapshot with roadbook import FOLDER --to FILE",
      "cannot be read: it is a folder; if it has CSV files",
    ],
  ] as const) {
    replace();
    const replacement = await opened.roadbook.refresh();
    expect(await refusalOf(opened)).toBe(reason);
    const { message } = (replacement as { refused: Error }).refused;
    expect(message).toStartWith(`${snapshot} ${detail}`);
  }
  await opened.roadbook.close();
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
