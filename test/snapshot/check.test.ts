/** Every change to a snapshot is detected, and files that are not snapshots are rejected. */
import { describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { applyChanges } from "../../src/import/apply.ts";
import { parseHeader, SnapshotError } from "../../src/snapshot/format/layout.ts";
import { checkSnapshot } from "../../src/snapshot/format/open.ts";
import { bytesOf, community, makeFile, makeSnapshot, user } from "../datasets.ts";
import { openInProcess, run, temporaryFolder } from "../support.ts";

test("check detects a flipped bit anywhere in the file", async () => {
  const path = await makeSnapshot();
  const bytes = readFileSync(path);
  const copy = join(temporaryFolder(), "copy");
  // All bytes of the header and the trailer, and every 97th byte between them.
  const places = Array.from({ length: bytes.length }, (_, at) => at).filter(
    (at) => at < 110 || at >= bytes.length - 81 || at % 97 === 0,
  );
  expect(places.length).toBeGreaterThan(500);
  const missed: number[] = [];
  for (const at of places) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
    writeFileSync(copy, flipped);
    try {
      await checkSnapshot(copy);
      missed.push(at);
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      expect(error.message).not.toContain("\n");
    }
  }
  expect(missed).toEqual([]);
});

test("the trailer has the CRC-32 of each block, and the sha256sum of all bytes before it", async () => {
  const path = await makeSnapshot();
  await applyChanges(bytesOf([user(45, "Anna")]), path);
  const bytes = readFileSync(path);
  const database = bytes.subarray(0, parseHeader(bytes).databaseBytes);
  const list = Buffer.alloc(4 * Math.ceil(database.length / 8192));
  for (let block = 0; block < list.length / 4; block++) {
    list.writeUInt32BE(crc32(database.subarray(8192 * block, 8192 * (block + 1))), 4 * block);
  }
  expect(bytes.subarray(database.length, -81)).toEqual(list);
  const { stdout } = await run(["sh", "-c", `head -c -81 ${path} | sha256sum; tail -c 81 ${path}`]);
  const sum = stdout.slice(0, 64);
  expect(stdout).toBe(`${sum}  -\nroadbook sha256 ${sum}\n`);
});

describe("checking or serving is a one-line error for", () => {
  const cases: [string, (path: string) => unknown, RegExp][] = [
    ["an empty file", (path) => writeFileSync(path, ""), /is empty/],
    ["a truncated file", (path) => truncateSync(path, 8192), /it has 8192 bytes instead of \d+/],
    ["a truncated header", (path) => truncateSync(path, 50), /is not a Roadbook snapshot/],
    ["a longer file", (path) => appendFileSync(path, "more"), /bytes instead of \d+/],
    ["a dataset", () => makeFile(community), /is a dataset, not a snapshot/],
    ["another SQLite file", (path) => setHeader(path, 68, 7), /is not a Roadbook snapshot/],
    [
      "a snapshot with a newer schema",
      (path) => setHeader(path, 60, 99),
      /has schema 99, but this Roadbook reads schema \d+; use a newer Roadbook/,
    ],
    ["a missing file", (path) => `${path}-none`, /cannot be read: no such file or directory/],
    [
      "a folder",
      (path) => join(path, ".."),
      /cannot be read: it is a folder; .* roadbook import FOLDER/,
    ],
  ];
  test.each(cases)("%s", async (_, spoil, expected) => {
    const path = await makeSnapshot();
    const result = spoil(path);
    const spoiled = typeof result === "string" ? result : path;
    for (const open of [checkSnapshot, (snapshot: string) => openInProcess({ snapshot })]) {
      const error: Error = await open(spoiled).then(
        () => undefined,
        (reason) => reason,
      );
      expect(error).toBeInstanceOf(SnapshotError);
      expect(error.message).toMatch(/^\S+ .*$/);
      expect(error.message).toMatch(expected);
    }
  });
});

/** Changes a number in the header. */
function setHeader(path: string, at: number, value: number): void {
  const bytes = readFileSync(path);
  bytes.writeUInt32BE(value, at);
  writeFileSync(path, bytes);
}
