/** The SQL around an operator's queries, in SQLite, which needs no server. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importDataset } from "../../src/snapshot/import/import.ts";
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

test("bytes in a database are text", async () => {
  const text = await importTables("SELECT 1", {
    users: `SELECT x'37' AS id, 1 AS public, x'416e6e' AS name, x'323032312d30352d3331' AS created_at`,
    companies: "SELECT 3 AS id, 'Acme' AS name, x'35' AS member_count",
  });
  expect(text).toContain('"member_count":5}');
  expect(text).toContain('{"type":"user","id":7,"public":true,"name":"Ann"');
});
