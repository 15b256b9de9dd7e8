/** The SQL around an operator's queries, in SQLite, which needs no server. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importDataset } from "../../src/import/import.ts";
import { idFormats } from "../../src/tables/columns.ts";
import { openDatabase } from "../../src/tables/database-source.ts";
import { dialects } from "../../src/tables/dialects.ts";
import { openTable } from "../../src/tables/table.ts";
import { exported } from "../datasets.ts";
import { temporaryFolder } from "../support.ts";

/** Imports tables, which are given as SQL that makes them, with one query for each. */
async function importTables(
  statements: string,
  queries: Record<string, string>,
  options: { idMap?: string } = {},
) {
  const folder = temporaryFolder();
  using db = new Database(join(folder, "db"));
  db.run(statements);
  mkdirSync(join(folder, "queries"));
  for (const [name, sql] of Object.entries(queries)) {
    writeFileSync(join(folder, "queries", `${name}.sql`), sql);
  }
  const target = join(folder, "snapshot");
  const source = { queries: join(folder, "queries"), ...options };
  await importDataset(`sqlite:${join(folder, "db")}`, target, source);
  return await exported(target);
}

const users = "SELECT 1 AS id, 1 AS public, 'Ann' AS name, '2021-05-31' AS created_at";

describe("what follows a query is left out, and what is quoted stays", () => {
  const named = (name: string) =>
    `SELECT 1 AS id, 1 AS public, ${name}, '2021-05-31' AS created_at`;
  test.each([
    [`${users};`, "Ann"],
    [`\ufeff-- all\n${users} ; ; -- that's it; really`, "Ann"],
    [`${users} /* a; 'b */ ;\n/* c */`, "Ann"],
    [`${named("'a; b' AS name")}`, "a; b"],
    [`${users} WHERE 'a;' <> '; -- b'`, "Ann"],
    [`${users} WHERE 1 OR ';' <> '; /*'`, "Ann"],
    [`SELECT * FROM (${named("'a -- b;' AS name")}) WHERE name <> 'it''s; '`, "a -- b;"],
    [`SELECT q.* FROM (${users}) AS "q; --" JOIN (${users}) AS q ON "q; --".id = q.id;`, "Ann"],
  ])("%j", async (sql, name) => {
    const text = await importTables("SELECT 1", { users: sql });
    expect(text).toContain(`"name":${JSON.stringify(name)}`);
  });

  test.each([`${users}; SELECT 1`, `${users}; DELETE FROM users`])(
    "%j is an error",
    async (sql) => {
      await expect(importTables("SELECT 1", { users: sql })).rejects.toThrow(/^users\.sql: /);
    },
  );
});

test.each([
  ["user_roles.sql.gz", "; unpack it with gunzip as user_roles.sql"],
  ["user_roles.sql.txt", "; rename it to user_roles.sql"],
])("%s is not taken for a query, nor left out silently", async (file, cure) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "users.sql"), users);
  writeFileSync(join(folder, file), "");
  const importing = importDataset("sqlite:db", join(folder, "s"), { queries: folder });
  await expect(importing).rejects.toThrow(` has ${file}${cure}`);
});

test("bytes in a database are text", async () => {
  const text = await importTables("SELECT 1", {
    users: `SELECT x'37' AS id, 1 AS public, x'416e6e' AS name, x'323032312d30352d3331' AS created_at`,
    companies: "SELECT 3 AS id, 'Acme' AS name, x'35' AS member_count",
  });
  expect(text).toContain('"member_count":5}');
  expect(text).toContain('{"type":"user","id":7,"public":true,"name":"Ann"');
});

test("a query may have the titles that people give, and the names of companies", async () => {
  const text = await importTables(
    `CREATE TABLE person (uid, username, joined, is_public, team);
      INSERT INTO person VALUES (1, 'Ann', '2021-05-31', 1, 'Acme'), (2, 'Bo', '2021-05-31', 1, 'ACME '),
        (3, 'Cy', '2021-05-31', 0, 'Secret')`,
    { users: 'SELECT uid AS "User ID", username, joined, is_public, team FROM person' },
  );
  const [company, ann, bo] = text.split("\n").map((line) => line && JSON.parse(line));
  expect(company).toMatchObject({ type: "company", name: "ACME", member_count: 2 });
  for (const user of [ann, bo]) expect(user.company).toEqual({ id: company.id, role: "Member" });
  expect(text).not.toContain("Secret");

  const unnamed = { users: "SELECT username, joined, is_public FROM person" };
  await expect(
    importTables("CREATE TABLE person (username, joined, is_public)", unnamed),
  ).rejects.toThrow(
    'users.sql: no column is id; found "username" (name), "joined" (created_at), "is_public" (public)',
  );
});

test("a user with too many achievements is found by the query and the id", async () => {
  const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)";
  const importing = importTables("SELECT 1", {
    users,
    achievements: `${numbers} SELECT i AS id, 'Owl' AS name, printf('%0150d', i) AS description,
      'owl.svg' AS icon, 'time' AS kind, 1 AS tier, 1 AS points FROM n`,
    user_achievements: `${numbers} SELECT 1 AS user_id, i AS achievement_id, 1 AS tier,
      '2021-05-31' AS unlocked_at FROM n`,
  });
  const error = "users.sql, id 1: achievements: must take at most 128 KB in a response, got ";
  await expect(importing).rejects.toThrow(error);
});

test("a byte that is no text is no id", async () => {
  const byte = users.replace("1 AS id", "x'c8' AS id");
  await expect(importTables("SELECT 1", { users: byte })).rejects.toThrow("id");
});

describe("two columns of ids that the database compares differently are one error", () => {
  const numbers = Array.from({ length: 1500 }, (_, at) => at + 1);
  const values = (literalOf: (n: number) => string) =>
    numbers.map((n) => `(${literalOf(n)})`).join();
  const make = (type: string, other: string, literalOf: (n: number) => string) => `
    CREATE TABLE person (id ${type}); INSERT INTO person VALUES ${values(literalOf)};
    CREATE TABLE has (user_id ${other}, role_id); CREATE TABLE got (user_id ${other});
    INSERT INTO has SELECT id, 1 FROM person; INSERT INTO got SELECT id FROM person`;
  const queries = {
    users: "SELECT id, 1 AS public, 'Ann' AS name, '2021-05-31' AS created_at FROM person",
    roles: "SELECT 1 AS id, 'Driver' AS name, 1 AS hierarchy",
    user_roles: "SELECT * FROM has",
  };
  const mixed = (n: number) => (n % 2 ? `'AB${n}'` : `'ab${n - 1}c'`);
  const text = (n: number) => `'${n}'`;
  const advice =
    "user_roles.sql: user_id is not compared like id in users.sql; write CAST(user_id AS TEXT) COLLATE BINARY here and CAST(id AS TEXT) COLLATE BINARY there";

  test.each([
    ["INTEGER", "TEXT", String],
    ["TEXT", "INTEGER", text],
    ["TEXT", "TEXT COLLATE NOCASE", mixed],
    ["TEXT COLLATE NOCASE", "TEXT", mixed],
  ])("%s beside %s", async (type, other, literalOf) => {
    const statements = make(type, other, literalOf);
    const idMap = join(temporaryFolder(), "ids");
    const importing = importTables(statements, queries, { idMap });
    await expect(importing).rejects.toThrow(new Error(advice));
    if (literalOf !== mixed)
      await expect(importTables(statements, queries)).rejects.toThrow(advice);
    const cured = {
      ...queries,
      users: queries.users.replace("id,", "CAST(id AS TEXT) COLLATE BINARY AS id,"),
      user_roles: "SELECT CAST(user_id AS TEXT) COLLATE BINARY AS user_id, role_id FROM has",
    };
    const exported = await importTables(statements, cured, { idMap });
    expect(exported.match(/"roles":\[1\]/g)).toHaveLength(numbers.length);
  });

  test("users who do not exist are reported as such", async () => {
    const statements = `${make("TEXT", "TEXT", text)}; DELETE FROM person WHERE id > '2'`;
    const idMap = join(temporaryFolder(), "ids");
    const importing = importTables(statements, queries, { idMap });
    await expect(importing).rejects.toThrow(
      "user_roles.sql, user_id 20: user_id: there is no user 20",
    );
  });
});

test("rows are not taken for those of nobody while the database cannot be asked", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "users.sql"), users);
  new Database(join(folder, "db")).close();
  const url = `sqlite:${join(folder, "db")}`;
  const address = { url, dialect: dialects.sqlite, timeoutMs: 1000 };
  const source = await openDatabase(address, idFormats.integers);
  const selected = await source.open("users", join(folder, "users.sql"));
  const table = await openTable("users", selected, {});
  expect(await table.hasAny([2, 1])).toBe(true);
  expect(await table.hasAny([2, "x"])).toBe(false);
  await source[Symbol.asyncDispose]();
  await expect(table.hasAny([2])).rejects.toThrow(/^users\.sql: .*closed/);
});
