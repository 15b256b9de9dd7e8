/** That `check` finds every change, and that `serve` refuses what cannot be one of its snapshots. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkSnapshot } from "../../src/snapshot/read/check.ts";
import { SnapshotError } from "../../src/snapshot/read/open.ts";
import { community, makeFile, makeSnapshot, succeed } from "../datasets.ts";
import { roadbook, run, temporaryFolder } from "../support.ts";

test("a snapshot as it was written is whole", async () => {
  const path = await makeSnapshot();
  expect(await succeed(["check", path])).toMatch(
    /^\S+ is whole: built \d{4}-\S+Z, 3 users \(2 public\), 2 companies, 1 achievements, 2 roles\n$/,
  );
});

test("a flipped bit is found wherever it is", async () => {
  const path = await makeSnapshot();
  const bytes = readFileSync(path);
  const copy = join(temporaryFolder(), "copy");
  // Every byte of the head, where SQLite looks first, and of the trailer, and every 97th between.
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
}, 30_000);

test("a snapshot shows its checksum to common tools", async () => {
  const path = await makeSnapshot();
  const { stdout } = await run(["sh", "-c", `head -c -81 ${path} | sha256sum; tail -c 81 ${path}`]);
  const sum = stdout.slice(0, 64);
  expect(stdout).toBe(`${sum}  -\nroadbook sha256 ${sum}\n`);
});

test("a letter changed in a name, in place, is found through the executable", async () => {
  const path = await makeSnapshot();
  const bytes = readFileSync(path);
  bytes[bytes.indexOf("Nora")] = "D".charCodeAt(0);
  writeFileSync(path, bytes);
  const { code, stdout, stderr } = await roadbook(["check", path]);
  expect([code, stdout, stderr]).toEqual([
    1,
    "",
    `roadbook: ${path} is damaged: a part of it has changed\n`,
  ]);
});

test("a row changed by another program is found", async () => {
  const path = await makeSnapshot();
  const db = new Database(path);
  db.run("UPDATE user SET name = 'Dora Nowak' WHERE id = 44");
  db.close(true);
  const { code, stderr } = await roadbook(["check", path]);
  expect([code, stderr]).toEqual([1, `roadbook: ${path} is damaged: a part of it has changed\n`]);
});

describe("what is no snapshot is one clear line, to check and to serve", () => {
  const cases: [string, (path: string) => unknown, RegExp][] = [
    ["an empty file", (path) => writeFileSync(path, ""), /is empty/],
    [
      "a file cut short",
      (path) => truncateSync(path, 8192),
      /has 8192 bytes, not the \d+ it was written with/,
    ],
    [
      "a file cut inside its header",
      (path) => truncateSync(path, 50),
      /is not a Roadbook snapshot/,
    ],
    [
      "a file with more behind it",
      (path) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(4096)])),
      /bytes, not the \d+ it was written with/,
    ],
    ["a dataset", (path) => copyFileSync(makeFile(community), path), /is not a Roadbook snapshot/],
    [
      "another program's SQLite file",
      (path) => setPragma(path, "application_id = 7"),
      /is a SQLite file, but not a Roadbook snapshot/,
    ],
    [
      "a newer schema",
      (path) => setPragma(path, "user_version = 99"),
      /has schema 99, this Roadbook reads \d+: use a newer Roadbook/,
    ],
    [
      "a file that is not there",
      (path) => `${path}-none`,
      /cannot be read: no such file or directory/,
    ],
    ["a folder", (path) => join(path, ".."), /is not a regular file/],
  ];
  test.each(cases)("%s", async (_, spoil, expected) => {
    const path = await makeSnapshot();
    const result = spoil(path);
    const spoiled = typeof result === "string" ? result : path;
    for (const words of [
      ["check", spoiled],
      ["serve", "--port", "0", "--snapshot", spoiled],
    ]) {
      const { code, stdout, stderr } = await roadbook(words);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^roadbook: \S+ .*\n$/);
      expect(stderr).toMatch(expected);
    }
  });
});

function setPragma(path: string, pragma: string): void {
  const db = new Database(path);
  db.run(`PRAGMA ${pragma}`);
  db.close(true);
}
