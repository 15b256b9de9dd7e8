/** Ids of any kind: every key keeps its integer, and messages quote the key. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Random } from "../../src/domain/random.ts";
import { applyChanges } from "../../src/import/apply.ts";
import { hideUsers } from "../../src/import/hide.ts";
import { openIdMap } from "../../src/import/id-map.ts";
import type { ImportOptions } from "../../src/import/import.ts";
import { importDataset } from "../../src/import/import.ts";
import { exported, makeFile, makeSnapshot, textOf } from "../datasets.ts";
import { temporaryFolder } from "../support.ts";

type Row = Record<string, unknown>;
type Day = Record<"users" | "companies" | "roles" | "user_roles", Row[]>;

const created_at = "2024-03-09T17:05:00Z";
const snowflake = (n: number) => String(175928847299117063n + BigInt(n));
const uuid = (n: number) => `3F2504e0-4f89-41d3-9a0c-${String(n).padStart(12, "0")}`;

function readMap(idMap: string, table = "user"): Map<string, number> {
  using db = new Database(idMap, { readonly: true });
  const rows = db.query<{ key: string; id: number }, []>(`SELECT key, id FROM ${table}`).all();
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  return new Map(rows.map(({ key, id }) => [key, id]));
}

/** Writes the data of one day into a folder. Returns the source of its import. */
const writers: Record<string, (folder: string, day: Day) => string> = {
  "SQLite file"(folder, day) {
    using db = new Database(join(folder, "bot.db"), { create: true });
    db.run("BEGIN");
    for (const [table, rows] of Object.entries(day)) {
      const columns = Object.keys(rows[0] ?? {});
      const types = columns.map((name) => `${name} ${name.endsWith("id") ? "INTEGER" : ""}`);
      db.run(`DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (${types})`);
      const insert = db.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => "?")})`);
      for (const row of rows) insert.run(...(Object.values(row) as string[]));
      writeFileSync(join(folder, "queries", `${table}.sql`), `SELECT * FROM ${table}`);
    }
    db.run("COMMIT");
    return `sqlite:${join(folder, "bot.db")}`;
  },
  "CSV files"(folder, day) {
    for (const [table, rows] of Object.entries(day)) {
      const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))];
      writeFileSync(join(folder, "queries", `${table}.csv`), lines.join("\n"));
    }
    return join(folder, "queries");
  },
  "NDJSON file"(folder, { users, companies, roles, user_roles }) {
    const lines = [
      ...users.map(({ company_id: id, ...user }) => ({
        type: "user",
        ...user,
        company: { id, role: "Member" },
        roles: user_roles.filter((row) => row.user_id === user.id).map((row) => row.role_id),
      })),
      ...companies.map((row) => ({ type: "company", ...row })),
      ...roles.map((row) => ({ type: "role", ...row })),
    ];
    // Discord ids are numbers.
    const text = lines.map((line) => `${JSON.stringify(line).replace(/"(\d{18})"/g, "$1")}\n`);
    writeFileSync(join(folder, "day.ndjson"), text.join(""));
    return join(folder, "day.ndjson");
  },
};

test.each([
  ["SQLite file", snowflake],
  ["CSV files", uuid],
  ["NDJSON file", snowflake],
] as const)("in thirty nights of a %s, no key changes its id", async (name, keyOf) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "queries"));
  const target = join(folder, "snapshot");
  const idMap = join(folder, "ids");
  const random = new Random(43);
  const shuffled = <T>(items: Iterable<T>) => [...items].sort(() => random.next() - 0.5);
  let people = Array.from({ length: 40 }, (_, n) => n);
  let known = new Map<string, number>();
  for (let night = 0; night < 30; night++) {
    const stay = people.filter(() => random.chance(0.9));
    people = shuffled(new Set([...stay, ...stay.slice(0, 5).map(() => random.below(200))]));
    const five = shuffled([0, 1, 2, 3, 4]).map((n) => ({ id: keyOf(n), name: `${n}` }));
    const users = people.map((n) => ({
      id: keyOf(n),
      public: n % 3 > 0,
      name: `User ${n}`,
      created_at,
      company_id: keyOf(n % 5),
    }));
    const source = writers[name]?.(folder, {
      users,
      companies: five.map((row) => ({ ...row, member_count: 1 })),
      roles: five.map((row) => ({ ...row, hierarchy: 1 })),
      user_roles: shuffled(people).map((n) => ({ user_id: keyOf(n), role_id: keyOf(n % 5) })),
    });
    const queries = name === "SQLite file" ? { queries: join(folder, "queries") } : {};
    await importDataset(source ?? "", target, { ...queries, idMap });
    const user = readMap(idMap);
    const company = readMap(idMap, "company");
    const role = readMap(idMap, "role");
    for (const [key, id] of known) expect(user.get(key)).toBe(id);
    known = user;
    const lines = (await exported(target)).split("\n").filter((line) => line.includes(`"User `));
    const expected = people
      .filter((n) => n % 3 > 0)
      .map((n) => ({
        id: user.get(keyOf(n)),
        name: `User ${n}`,
        company: { id: company.get(keyOf(n % 5)), role: "Member" },
        roles: [role.get(keyOf(n % 5))],
      }));
    const found = lines.map((line) => JSON.parse(line));
    expect(found).toMatchObject(expected.sort((a, b) => Number(a.id) - Number(b.id)));
    expect(found).toHaveLength(expected.length);
  }
  expect(Math.max(...known.values())).toBe(known.size);
});

const owl = { type: "achievement", id: "owl", name: "Owl", description: "", icon: "", kind: "" };
const ann = { type: "user", id: uuid(1), public: true, name: "Ann", created_at };
const unlock = { id: "owl", tier: 1, unlocked_at: created_at };

async function importKeys(lines: object[], options: ImportOptions = {}) {
  const folder = temporaryFolder();
  const source = join(folder, "in.ndjson");
  const target = join(folder, "snapshot");
  const idMap = join(folder, "ids");
  writeFileSync(source, textOf(lines));
  const importing = importDataset(source, target, { idMap, ...options });
  const error = await importing.then(
    () => "",
    (error: Error) => error.message,
  );
  return { source, target, idMap, error };
}

test("keys are text without the space around them, and 5 is the same key as text", async () => {
  const ids = [5, " ab ", "AB", "ab\u00a0c", "x".repeat(100), 0, -1, "1e5"];
  const users = ids.map((id) => ({ type: "user", id, public: false }));
  const { idMap, target } = await importKeys(users);
  const keys = ["5", "ab", "AB", "ab\u00a0c", "x".repeat(100), "0", "-1", "1e5"];
  expect([...readMap(idMap)]).toEqual(keys.map((key, at) => [key, at + 1]));
  expect(statSync(idMap).mode & 0o777).toBe(0o600);
  const change = [{ type: "user", id: "5", public: true, name: "Five", created_at }];
  await applyChanges(change, target, { idMap });
  expect(await exported(target)).toContain('"id":1,"public":true,"name":"Five"');
  const { found } = await hideUsers(["5", " ab"], target, { idMap });
  expect(found).toEqual([
    { id: 1, given: "5", wasPublic: true },
    { id: 2, given: " ab", wasPublic: false },
  ]);
  const hiding = hideUsers(["AB", "ac", 60], target, { idMap });
  await expect(hiding).rejects.toThrow("user ac, user 60; nothing was written");
  using map = await openIdMap(idMap, { readsOnly: true });
  expect([5, "5 ", "6"].map((id) => map?.findUser(id))).toEqual([1, 1, undefined]);
});

test("hide of the number in a page's address says which key that is", async () => {
  const { target, idMap } = await importKeys([ann, { ...ann, id: "bob" }]);
  const hiding = hideUsers(["2", "99"], target, { idMap });
  await expect(hiding).rejects.toThrow(
    `not found in ${target}: user 2 (number 2 has the key bob), user 99; nothing was written`,
  );
  expect((await hideUsers(["bob"], target, { idMap })).found).toMatchObject([{ id: 2 }]);
});

test.each<[object, string]>([
  [
    { ...ann, id: "1.76E+17" },
    'id: must be an integer from 1 to 9007199254740991, got "1.76E+17"; it looks',
  ],
  [{ ...ann, id: "x".repeat(101) }, 'x…" (101 code points)'],
  [{ ...ann, id: {} }, "id: must be an integer from 1 to 9007199254740991, got an object"],
  [
    { ...ann, name: "" },
    `line 2: name: must be a non-blank string of 1 to 200 code points, got "" (user ${uuid(2)})`,
  ],
  [{ ...ann, id: ` ${uuid(1)}` }, `line 2: id: duplicate user id ${uuid(1)}`],
  [{ ...ann, roles: ["a+b"] }, `line 2: roles: there is no role a+b (user ${uuid(2)})`],
  [
    { ...ann, achievements: [unlock, unlock] },
    `achievements[1].id: is listed twice (user ${uuid(2)})`,
  ],
])("%j is an error that quotes the key", async (line, expected) => {
  const user = { ...line, ...("id" in line && line.id === ann.id && { id: uuid(2) }) };
  const { error, idMap } = await importKeys([ann, user, { ...owl, tier: 1, points: 1 }]);
  expect(error).toContain(expected);
  // No id was given away, and no empty map is left.
  expect(existsSync(idMap)).toBe(false);
});

test("a dry run adds no key, and creates no map", async () => {
  const { idMap, target, source } = await importKeys([ann]);
  const before = readFileSync(idMap);
  await importDataset([{ ...ann, id: "new" }], target, { idMap, dryRun: true });
  expect(readFileSync(idMap).equals(before)).toBe(true);
  const other = join(temporaryFolder(), "ids");
  await importDataset(source, join(temporaryFolder(), "x"), { idMap: other, dryRun: true });
  expect(existsSync(other)).toBe(false);
});

test.each<[string, (folder: string) => Promise<string>, string]>([
  ["text", async () => makeFile([ann]), "lines.ndjson is not an id map; choose another --id-map"],
  ["a snapshot", () => makeSnapshot(), "snapshot is not an id map; choose another --id-map"],
  ["in a missing folder", async (folder) => join(folder, "none/ids"), "cannot write "],
])("a map that is %s is an error", async (_, make, expected) => {
  const folder = temporaryFolder();
  const idMap = await make(folder);
  const target = join(folder, "snapshot");
  await expect(importDataset([ann], target, { idMap })).rejects.toThrow(expected);
  expect(existsSync(target)).toBe(false);
});

test("a map that is damaged is named, and not the snapshot", async () => {
  const { idMap, target } = await importKeys([ann]);
  const others = Array.from({ length: 300 }, (_, at) => ({ ...ann, id: `key ${at}` }));
  await importDataset([ann, ...others], target, { idMap });
  const bytes = readFileSync(idMap);
  // Leaves the first page, with the tables, as it is.
  writeFileSync(idMap, bytes.fill(0xff, 4096));
  const reason = "database disk image is malformed";
  for (const importing of [
    importDataset([{ ...ann, id: "key 1" }], target, { idMap, force: true }),
    hideUsers(["key 1"], target, { idMap }),
  ]) {
    await expect(importing).rejects.toThrow(new Error(`cannot read ${idMap}: ${reason}`));
  }
});

test("imports into two snapshots take turns with their map", async () => {
  const { idMap } = await importKeys([ann]);
  const importing = ["a", "b"].map((name) => {
    const users = Array.from({ length: 50 }, (_, at) => ({ ...ann, id: `${name}${at}` }));
    return importDataset(users, join(temporaryFolder(), name), { idMap });
  });
  await Promise.all(importing);
  expect(readMap(idMap).size).toBe(101);
});

test("an import that began without a map does not replace the one that another has made", async () => {
  const idMap = join(temporaryFolder(), "ids");
  const started = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  async function* slow() {
    yield Buffer.from(`${JSON.stringify({ ...ann, id: "slow" })}\n${" \n".repeat(1000)}`);
    // The map is opened as soon as the first bytes show what the input is.
    started.resolve();
    await end.promise;
  }
  const first = importDataset(slow(), join(temporaryFolder(), "a"), { idMap });
  await started.promise;
  await importDataset([ann], join(temporaryFolder(), "b"), { idMap });
  end.resolve();
  await expect(first).rejects.toThrow(`another import has made ${idMap} meanwhile; try again`);
  expect([...readMap(idMap).keys()]).toEqual([ann.id]);
  expect(readdirSync(dirname(idMap))).toEqual(["ids"]);
});

test.each([false, true])(
  "users can be hidden while an import (dry: %j) has the map",
  async (dryRun) => {
    const { target, idMap } = await importKeys([ann, { ...ann, id: "bob" }]);
    const other = join(temporaryFolder(), "other");
    await importDataset([ann], other, { idMap });
    const started = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.from(`${textOf([ann, { ...ann, id: "new" }])}${" \n".repeat(1000)}`);
      started.resolve();
      await end.promise;
    }
    const importing = importDataset(slow(), other, { idMap, dryRun });
    await started.promise;

    const { found } = await hideUsers(["bob"], target, { idMap, waitMs: 0 });
    expect(found).toEqual([{ id: 2, given: "bob", wasPublic: true }]);
    const unknown = hideUsers(["new"], target, { idMap, waitMs: 0 });
    await expect(unknown).rejects.toThrow("user new; nothing was written");
    const same = hideUsers([uuid(1)], other, { idMap, waitMs: 0 });
    if (dryRun) await same;
    else await expect(same).rejects.toThrow(`another command is still writing ${other} after 0 s`);
    end.resolve();
    await importing;
    expect(readMap(idMap).size).toBe(dryRun ? 2 : 3);
  },
);

test("hiding users leaves an empty map empty", async () => {
  const { target } = await importKeys([ann]);
  const idMap = join(temporaryFolder(), "ids");
  writeFileSync(idMap, "");
  const hiding = hideUsers([uuid(1)], target, { idMap });
  await expect(hiding).rejects.toThrow(`${idMap} is not the id map of ${target}; give the file`);
  expect(statSync(idMap).size).toBe(0);
});

test("hiding users refuses a database without tables as the map, and does not change it", async () => {
  const { target } = await importKeys([ann]);
  const idMap = join(temporaryFolder(), "ids");
  {
    using db = new Database(idMap, { create: true });
    db.run("PRAGMA user_version = 1");
  }
  const before = readFileSync(idMap);
  const hiding = hideUsers([uuid(1)], target, { idMap });
  await expect(hiding).rejects.toThrow(`${idMap} is not an id map; choose another --id-map`);
  expect(readFileSync(idMap).equals(before)).toBe(true);
});
