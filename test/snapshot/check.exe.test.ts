/** That `check` finds every change, and that `serve` refuses what cannot be one of its snapshots. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { appendChecksum } from "../../src/snapshot/format/file.ts";
import { checkSnapshot } from "../../src/snapshot/read/check.ts";
import { SnapshotError } from "../../src/snapshot/read/open.ts";
import { sqlite } from "../../src/sqlite/bun.ts";
import { community, makeFile, makeSnapshot, succeed } from "../datasets.ts";
import { openExecutable, openInProcess, roadbook, run, temporaryFolder } from "../support.ts";

test("a snapshot as it was written is whole", async () => {
  const path = await makeSnapshot();
  expect(await succeed(["check", path])).toMatch(
    /^\S+ is intact: built \d{4}-\S+Z, 3 users \(2 public\), 2 companies, 1 achievement, 2 roles\n$/,
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
  db.run("UPDATE role SET name = 'Dora' WHERE id = 1");
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
    [
      "zstd that starts with a skippable frame",
      (path) => writeFileSync(path, Buffer.from("502a4d180000000028b52ffd", "hex")),
      /is compressed: decompress it with zstd -d, or serve it from a URL/,
    ],
    [
      "a dataset",
      (path) => copyFileSync(makeFile(community), path),
      /is a dataset, not a Roadbook snapshot/,
    ],
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

describe("a file with a right checksum that Roadbook has not written is one clear line", () => {
  const schema = /was not written by Roadbook: it has other tables than a snapshot/;
  const endless = `WITH RECURSIVE endless (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM endless)
                   SELECT id, 'Driver' AS name, 1 AS hierarchy FROM endless`;
  const cases: [string, string, RegExp][] = [
    ["an endless view for a table", `DROP TABLE role; CREATE VIEW role AS ${endless}`, schema],
    ["a view more", `CREATE VIEW more AS ${endless}`, schema],
    ["a trigger", "CREATE TRIGGER more AFTER INSERT ON user BEGIN SELECT 1; END", schema],
    ["an index more", "CREATE INDEX more ON user (name)", schema],
    ["an index less", "DROP INDEX achievement_icon", schema],
    ["a table more", "CREATE TABLE more (id INTEGER PRIMARY KEY)", schema],
    ["a table less", "DROP TABLE private_user", schema],
    ["a table with a column more", "ALTER TABLE role ADD COLUMN more TEXT", schema],
    [
      "a view for a table of FTS5",
      `DROP TABLE user_ngram_idx;
       CREATE VIEW user_ngram_idx AS SELECT 1 AS segid, 2 AS term, 3 AS pgno`,
      schema,
    ],
    [
      "a huge fact",
      "UPDATE meta SET value = hex(zeroblob(3000000)) WHERE key = 'dataset_sha256'",
      /is damaged: it has a text that is longer than any/,
    ],
    [
      "a fact that is none",
      `UPDATE meta SET value = '{"users":null}' WHERE key = 'counts'`,
      /is damaged: its meta table has no counts that can be read/,
    ],
    [
      "a fact less",
      "DELETE FROM meta WHERE key = 'built_at'",
      /is damaged: its meta table has no built_at that can be read/,
    ],
  ];
  test.each(cases)("to check and to serve: %s", async (_, sql, expected) => {
    const path = await makeSnapshot();
    await craft(path, sql);
    for (const words of [
      ["check", path],
      ["export", path],
      ["apply", makeFile([]), "--to", path],
      ["serve", "--port", "0", "--snapshot", path],
    ]) {
      if (words[0] !== "check" && words[0] !== "serve" && expected !== schema) continue;
      const { code, stdout, stderr } = await roadbook(words);
      expect([words[0], code, stdout]).toEqual([words[0], 1, ""]);
      expect(stderr).toMatch(/^roadbook: \S+ .*\n$/);
      expect(stderr).toMatch(expected);
    }
  });

  test.each([
    ["name", "UPDATE user SET name = hex(zeroblob(3000000)) WHERE id = 44", "/users/public/44"],
    [
      "company_name",
      "UPDATE user_name SET company_name = hex(zeroblob(3000000)) WHERE id = 44",
      "/search/users?q=nora",
    ],
    [
      "achievements",
      "UPDATE user SET achievements = hex(zeroblob(3000000)) WHERE id = 44",
      "/users/44/achievements",
    ],
    [
      "ranks",
      `INSERT INTO user_frequent_ngram VALUES ('x', 1000, 5), ('xy', 1000, 5);
       INSERT INTO user_long_list VALUES (5, zeroblob(5000000))`,
      "/search/users?q=xy",
    ],
  ])(
    "to check, and an error when it is asked for: a huge list of %s",
    async (column, sql, path) => {
      const snapshot = await makeSnapshot();
      await craft(snapshot, sql);
      const { code, stderr } = await roadbook(["check", snapshot]);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(
          new RegExp(`is damaged: \\w+ has ${column} longer than Roadbook writes`),
        ),
      ]);
      const server = await openExecutable(["--snapshot", snapshot]);
      expect((await server.fetch(path)).status).toBe(500);
      expect((await server.fetch("/users/public/42")).status).toBe(200);
      await server.close();
    },
  );
});

test("a posting list whose block has a number beyond all is not read without end", async () => {
  const snapshot = await makeSnapshot();
  await craft(
    snapshot,
    `INSERT INTO user_frequent_ngram VALUES ('x', 1000, 5), ('xy', 1000, 5);
     INSERT INTO user_long_list VALUES (${Number.MAX_SAFE_INTEGER}, x'01')`,
  );
  const roadbook = await openInProcess({ snapshot });
  expect(await (await roadbook.fetch("/search/users?q=xy")).json()).toEqual({
    success: true,
    users: [],
  });
  await roadbook.close();
});

/** Changes the tables of a snapshot and gives it the checksum of what it is then. */
async function craft(path: string, sql: string): Promise<void> {
  truncateSync(path, statSync(path).size - 81);
  const db = sqlite.openConnection(path);
  db.exec(sql);
  db.close();
  await appendChecksum(path);
}

function setPragma(path: string, pragma: string): void {
  const db = new Database(path);
  db.run(`PRAGMA ${pragma}`);
  db.close(true);
}
