/** An export is the imported dataset, a seed generates one, and the schema describes both. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv/dist/2020";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { runCommandLine } from "../../src/commands/command-line.ts";
import { seedDataset } from "../../src/community/community.ts";
import { datasetSchema } from "../../src/domain/dataset.ts";
import { cleanName } from "../../src/domain/text.ts";
import {
  parseObject,
  validateChange,
  validateMarker,
  validateRecord,
} from "../../src/domain/validate-record.ts";
import { version } from "../../src/domain/version.ts";
import { createCleaner } from "../../src/import/clean-record.ts";
import { exportDataset } from "../../src/snapshot/format/records.ts";
import { sealFile } from "../../src/snapshot/format/seal.ts";
import { sqlite } from "../../src/sqlite/bun.ts";
import { community, exported, makeSnapshot, runSql, user } from "../datasets.ts";
import { achievement, invalidLines } from "../domain/invalid-lines.ts";
import { runs } from "../runs.ts";
import { temporaryFolder } from "../support.ts";

const cleaner = await createCleaner(0, {});

const linesIn = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("export", () => {
  test("writes records and fields in a fixed order", async () => {
    const unlock = { id: 7, tier: 2, unlocked_at: "2024-03-09T19:05:00.9+02:00" };
    const path = await makeSnapshot(
      [
        ...community,
        user(9, "Z Z", { achievements: [unlock], roles: [2, 1], company: null }),
      ].reverse(),
    );
    expect(await exported(path)).toBe(`{"type":"role","id":1,"name":"Driver","hierarchy":10}
{"type":"role","id":2,"name":"Patron","hierarchy":20}
{"type":"achievement","id":7,"name":"Night Owl","description":"Deliver at night.","icon":"night-owl.svg","kind":"time","tier":1,"points":25}
{"type":"company","id":3,"name":"Baltic Express","member_count":41}
{"type":"company","id":4,"name":"Żubr Trans","member_count":7}
{"type":"user","id":9,"public":true,"name":"Z Z","avatar_url":"https://avatars.example/9.png","created_at":"2021-05-01T10:00:00Z","company":null,"roles":[1,2],"achievements":[{"id":7,"tier":2,"unlocked_at":"2024-03-09T17:05:00Z"}]}
{"type":"user","id":42,"public":true,"name":"Łukasz Nowak","avatar_url":"https://avatars.example/42.png","created_at":"2021-05-01T10:00:00Z","company":{"id":3,"role":"Owner"},"roles":[1,2],"achievements":[]}
{"type":"user","id":43,"public":false}
{"type":"user","id":44,"public":true,"name":"Nora Nowak","avatar_url":"https://avatars.example/44.png","created_at":"2021-05-01T10:00:00Z","company":{"id":3,"role":"Driver"},"roles":[],"achievements":[]}
{"type":"end","lines":9}
`);
  });

  test("writes the same bytes after its output is imported again, for any text", async () => {
    const text = fc.string({ unit: "binary", maxLength: 30 });
    const name = text.filter((text) => cleanName(text) !== "");
    const integer = fc.maxSafeInteger();
    const count = fc.maxSafeNat();
    const min = new Date("0000-01-01T00:00:00Z");
    const max = new Date("9999-12-31T23:59:59Z");
    const time = fc.date({ min, max, noInvalidDate: true });
    const records = fc.tuple(name, text, text, text, integer, count, count, time, fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.array(records, { minLength: 1, maxLength: 8 }), async (list) => {
        const lines = list.flatMap(
          ([name, text, icon, kind, hierarchy, count, points, time, hasAvatar], index) => {
            const id = index + 1;
            const at = time.toISOString();
            return [
              { type: "role", id, name, hierarchy },
              { type: "achievement", id, name, description: text, icon, kind, tier: count, points },
              { type: "company", id, name, member_count: count },
              user(id, name, {
                created_at: at,
                avatar_url: hasAvatar ? `/${id}.png` : null,
                company: { id, role: name },
                roles: [id],
                achievements: [{ id, tier: count, unlocked_at: at }],
              }),
            ];
          },
        );
        const first = await exported(await makeSnapshot(lines));
        const again = await exported(await makeSnapshot(linesIn(first)));
        expect(again).toBe(first);
        const values = linesIn(first);
        const name = cleanName(list[0]?.[0] ?? "");
        const achievement = values.find(({ type }) => type === "achievement");
        expect(achievement).toEqual({ ...lines[1], name });
        expect(values.find(({ type }) => type === "user").name).toBe(name);
      }),
      { numRuns: runs(8), seed: 4 },
    );
  });
});

describe("seed", () => {
  const seed = async (...words: string[]) => {
    const out = join(temporaryFolder(), "out.ndjson");
    await runCommandLine(["seed", ...words, "--to", out]);
    return readFileSync(out, "utf8");
  };

  test("gives the same bytes for the same seed on every platform", async () => {
    const text = await seed("--users", "3000");
    // Put the hash received here if the change of the community is intended.
    expect(Bun.SHA256.hash(text, "hex")).toBe(
      "4ef8a2c51aa1fde18eec0b55de98117ccce91beeb96484593f619f3bcc29c0a3",
    );
    expect(await seed("--users", "3000", "--seed", "2")).not.toBe(text);
    // Import and export leave it unchanged.
    expect(await exported(await makeSnapshot(linesIn(text)))).toBe(text);
  });

  test.each([
    ["--users 0", { users: 0, companies: 0 }],
    ["--users 1", { users: 1, companies: 1 }],
    ["--users 10 --companies 0", { users: 10, companies: 0 }],
    ["--users 10 --companies 64", { users: 10, companies: 64 }],
  ])("%s generates the expected number of users and companies", async (words, expected) => {
    const lines = linesIn(await seed(...words.split(" ")));
    const count = (type: string) => lines.filter((line) => line.type === type).length;
    expect({ users: count("user"), companies: count("company") }).toEqual(expected);
    if (expected.users > 0) await makeSnapshot(lines);
  });
});

test("an export closes its snapshot when it is read, or disposed of", async () => {
  const path = await makeSnapshot();
  const read = await exportDataset(path);
  expect([...read]).not.toBeEmpty();
  const left = await exportDataset(path);
  for (const _ of left) break;
  const unread = await exportDataset(path);
  unread[Symbol.dispose]();
  for (const lines of [read, left, unread]) expect(() => [...lines]).toThrow("closed");
});

test("an export that cannot read all of its snapshot names it", async () => {
  const path = await makeSnapshot();
  const client = sqlite.openWritable(path).$client;
  const query =
    "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'role'";
  const { rootpage = 0, page_size = 0 } =
    client.prepare<{ rootpage: number; page_size: number }>(query).get() ?? {};
  client.close();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xff, (rootpage - 1) * page_size, rootpage * page_size));
  await sealFile(path);

  const target = `${path}.ndjson`;
  await expect(runCommandLine(["export", path, "--to", target])).rejects.toThrow(
    new Error(`cannot read ${path}: database disk image is malformed`),
  );
  expect(existsSync(target)).toBe(false);
});

describe("a snapshot with an older schema", () => {
  test.each([
    "check",
    "export",
    "serve --port 0 --snapshot",
    "apply /dev/null --to",
    "import --dry-run",
  ])("is refused by %s with the way out", async (command) => {
    const path = await makeSnapshot();
    await runSql(path, "PRAGMA user_version = 6");
    await expect(runCommandLine([...command.split(" "), path])).rejects.toThrow(
      `${path} was written by version ${version} (schema 6); export it with that version, and import the dataset`,
    );
  });
});

test("a snapshot is a dataset, also for an import into the same file", async () => {
  const path = await makeSnapshot();
  const before = await exported(path);
  for (const to of [`${path}.new`, path]) {
    await runCommandLine(["import", path, "--to", to]);
    expect(await exported(to)).toBe(before);
  }
});

describe("schema", () => {
  const ajv = new Ajv({ strict: true });
  addFormats(ajv);

  const schema = datasetSchema();
  const line = ajv.compile(schema);
  const change = ajv.compile({ ...schema, anyOf: undefined, $ref: "#/$defs/change" });

  test("accepts every line that seed writes", () => {
    for (const one of seedDataset({ users: 2000, companies: 80, seed: 1 })) {
      if (!line(one)) throw new Error(`${JSON.stringify(one)}: ${JSON.stringify(line.errors)}`);
    }
  });

  function isValid(text: string, validate: typeof validateRecord | typeof validateChange): boolean {
    const record = parseObject(text);
    if (Array.isArray(record)) return false;
    cleaner.clean(record);
    return !Array.isArray(validateMarker(record) ?? validate(record));
  }

  test("accepts exactly the lines and changes that import and apply accept", () => {
    const names = ["x".repeat(200), "🚛".repeat(200), "x".repeat(201), " \n"];
    const times = ["2024-03-09T17:05:00.25+05:30", "2024-03-09 17:05:00Z", "2024-02-30T17:05:00Z"];
    const avatars = ["/", "/a/../search/users?q=ab", `/${"a".repeat(2047)}`, null, undefined];
    const lines = [
      ...community,
      // The schema cannot express that a time is in the years 0 to 9999 of UTC.
      ...invalidLines
        .map(([, line]) => line)
        .filter(
          (line) => typeof line === "object" && !JSON.stringify(line).includes("T00:00:00+01"),
        ),
      ...names.map((name) => user(1, name)),
      ...[...times, "0000-02-29t23:59:59z"].map((created_at) => user(1, "Time", { created_at })),
      ...avatars.map((avatar_url) => user(1, "Avatar", { avatar_url })),
      user(1, "Roles", { roles: Array.from({ length: 100 }, (_, index) => index + 1) }),
      { ...achievement, description: "🚛".repeat(500) },
      user(1, "Company", { company: null }),
      ...[0, -1].map((lines) => ({ type: "end", lines })),
      ...["0123456789abcdef".repeat(2), "0123", null].map((map) => ({ type: "ids", map })),
      ...["end", "user", "role", "driver"].map((type) => ({ type, id: 1, deleted: true })),
      ...["Kept to oneself", ""].map((name) => ({ type: "user", id: 1, public: false, name })),
      { type: "user", id: 1, deleted: true, public: false },
      [],
      {},
    ];
    for (const value of lines) {
      const text = JSON.stringify(value);
      expect([text, line(value), change(value)]).toEqual([
        text,
        isValid(text, validateRecord),
        isValid(text, validateChange),
      ]);
    }
  });
});
