/**
 * Imports from real PostgreSQL, MariaDB and SQLite databases: types, errors, and takedowns that
 * arrive during an import.
 */
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importDataset } from "../../src/snapshot/import/import.ts";
import { DatasetError } from "../../src/snapshot/import/line-errors.ts";
import { exported, makeSnapshot, stateOf } from "../datasets.ts";
import { openInProcess, roadbook, temporaryFolder, until } from "../support.ts";
import {
  type DatabaseServer,
  hasMariadb,
  hasPostgres,
  startMariadb,
  startPostgres,
} from "./servers.ts";

const isRequired = process.env.ROADBOOK_REQUIRE_ALL === "1";
const T = "2024-03-09T17:05:00Z";
const NEVER = /must be an RFC 3339 time .* got/;
const NOT_A_BOOLEAN = /public: (is missing|must be true or false, got)/;
const NOT_AN_ID = /id: (is missing|must be an integer from 1 to 9007199254740991, got)/;

interface Family {
  has: boolean;
  start(): Promise<DatabaseServer>;
  /** Makes a table named types with one row. */
  types: string;
  /** A column of users, an SQL expression for it, and its value or the error. */
  cases: [string, string, unknown][];
  /** A statement that waits for three seconds and returns 1. */
  sleep: string;
}

async function startSqlite(): Promise<DatabaseServer> {
  const path = join(temporaryFolder(), "platform.sqlite");
  const db = new Database(path);
  db.run("PRAGMA journal_mode = WAL");
  return {
    url: `sqlite:${path}`,
    run: async (statements) => db.run(statements),
    close: async () => db.close(),
  };
}

const families: Record<string, Family> = {
  PostgreSQL: {
    has: hasPostgres,
    start: startPostgres,
    sleep: "(SELECT 1 FROM pg_sleep(3))",
    types: `CREATE TABLE types (one bit(1), zero bit(1), three bit(2), c char(5), b boolean, z timestamptz);
      INSERT INTO types VALUES (B'1', B'0', B'11', 'yes', NULL, '2024-03-09 18:05:00+01');`,
    cases: [
      ["id", "42::bigint", 42],
      ["id", "42.0::numeric", 42],
      ["id", "9007199254740993", NOT_AN_ID],
      ["id", "NULL::int", NOT_AN_ID],
      ["id", "4.5", NOT_AN_ID],
      ["id", "'42'::text", /users\.sql: operator does not exist: text/],
      ["public", "true", true],
      ["public", "one", true],
      ["public", "c", true],
      ["public", "zero", false],
      ["public", "'F'", false],
      ["public", "b", NOT_A_BOOLEAN],
      ["public", "three", NOT_A_BOOLEAN],
      ["created_at", "z", T],
      ["created_at", "timestamp '2024-03-09 17:05:00.9'", T],
      ["created_at", "date '2024-03-09'", "2024-03-09T00:00:00Z"],
      ["created_at", "1710003900::bigint", T],
      ["created_at", "z::text", T],
      ["created_at", "timestamptz 'infinity'", NEVER],
      ["created_at", "timestamp '10000-01-01'", NEVER],
    ],
  },
  MariaDB: {
    has: hasMariadb,
    start: startMariadb,
    sleep: "(SELECT SLEEP(3) + 1)",
    types: `SET SESSION sql_mode = '', time_zone = '+00:00';
      CREATE TABLE types (yes tinyint(1), one bit(1), zero bit(1), eight bit(8), nine bit(8),
        big bigint unsigned, stamp timestamp NULL, dt datetime(3), never datetime, day date,
        latin varchar(20) CHARACTER SET latin1, bytes varbinary(20));
      INSERT INTO types VALUES (1, b'1', b'0', b'1', b'1001', 9007199254740993,
        '2024-03-09 17:05:00', '2024-03-09 17:05:00.999', 0, '2024-03-09', 'Müller', 'Łódź');`,
    cases: [
      ["id", "CAST(42 AS UNSIGNED)", 42],
      ["id", "42.0", 42],
      ["id", "big", NOT_AN_ID],
      ["id", "NULL", NOT_AN_ID],
      ["public", "yes", true],
      ["public", "one", true],
      ["public", "eight", true],
      ["public", "'t'", true],
      ["public", "zero", false],
      ["public", "yes = 0", false],
      ["public", "nine", NOT_A_BOOLEAN],
      ["public", "NULL", NOT_A_BOOLEAN],
      ["created_at", "stamp", T],
      ["created_at", "dt", T],
      ["created_at", "day", "2024-03-09T00:00:00Z"],
      ["created_at", "UNIX_TIMESTAMP(stamp)", T],
      ["created_at", "never", /users\.sql, id 1: created_at: .* got "0000-00-00 00:00:00"$/],
      ["name", "latin", "Müller"],
      ["name", "bytes", "Łódź"],
    ],
  },
  SQLite: {
    has: true,
    start: startSqlite,
    sleep: `(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2e7)
      SELECT max(i) > 0 FROM n)`,
    types: "CREATE TABLE types (i INTEGER); INSERT INTO types VALUES (1)",
    cases: [
      ["id", "'x'", NOT_AN_ID],
      ["id", "9007199254740993", NOT_AN_ID],
      ["public", "i", true],
      ["public", "i > 1", false],
      ["public", "''", NOT_A_BOOLEAN],
      ["created_at", "datetime('2024-03-09 17:05:00')", T],
      ["created_at", "unixepoch('2024-03-09 17:05:00')", T],
      ["created_at", "'0000-00-00 00:00:00'", NEVER],
      ["name", "007", "7"],
    ],
  },
};

function makeQueries(queries: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(queries)) {
    writeFileSync(join(folder, `${name}.sql`), text);
  }
  return folder;
}

const values = { id: "1", public: "1", name: "'Ann'", created_at: "0" };
const select = (columns: object, from = "") =>
  `SELECT ${Object.entries(columns).map(([name, value]) => `${value} AS ${name}`)} ${from}`;

/** Reads the lines of a snapshot imported from a database, or the message of the error. */
async function importFrom(url: string, queries: Record<string, string>) {
  const target = join(temporaryFolder(), "snapshot");
  try {
    await importDataset(url, target, { queries: makeQueries(queries) });
  } catch (error) {
    return error instanceof DatasetError ? error.message : String(error);
  }
  return (await exported(target))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

for (const [name, { has, start, types, cases, sleep }] of Object.entries(families)) {
  if (!has) console.warn(`${name} is missing: skipping imports from it`);
  describe.if(has || isRequired)(`from ${name}`, async () => {
    const server = has || isRequired ? await start() : undefined;
    if (!server) return;
    closers.push(server.close);
    const { url } = server;
    const isServer = !url.startsWith("sqlite");
    await server.run(types);
    await server.run("CREATE TABLE member (id bigint, hidden int)");
    await server.run("CREATE TABLE badge (member_id bigint, badge_id bigint, tier int, day int)");

    test.each(cases)("%s from %s", async (column, expression, expected) => {
      const users = select({ ...values, [column]: expression }, "FROM types");
      const found = await importFrom(url, { users });
      if (expected instanceof RegExp) expect(found).toMatch(expected);
      else expect(found[0]).toMatchObject({ type: "user", [column]: expected });
    });

    test("every row is read or reported, also at the edges of pages and in gaps", async () => {
      const ids = Array.from({ length: 10_001 }, (_, at) => 2 * at + 2);
      const rows = (list: unknown[]) => list.map((row) => `(${row})`).join(",");
      await server.run(`INSERT INTO member VALUES ${rows(ids.map((id) => [id, id % 4 ? 0 : 1]))}`);
      const badges = ids.flatMap((id) => [
        [id, 1, 1, 5],
        [id, 1, 2, 9],
        [id, 1, 2, 7],
      ]);
      await server.run(`INSERT INTO badge VALUES ${rows(badges)}`);
      const queries = {
        users:
          "-- ; public?\nSELECT id, 1 - hidden AS public, 'Ann' AS name, 0 AS created_at, NULLIF(1, hidden) AS company_id FROM member /* ; */ ; -- end;",
        companies: "SELECT 1 AS id, 'Acme; Inc.' AS name, NULL AS member_count",
        achievements:
          "SELECT 1 AS id, 'A' AS name, 'd' AS description, 'i' AS icon, 'k' AS kind, 1 AS tier, 1 AS points",
        user_achievements:
          "SELECT member_id AS user_id, badge_id AS achievement_id, tier, day AS unlocked_at FROM badge",
      };
      const [, company, ...users] = await importFrom(url, queries);
      expect(company).toMatchObject({ name: "Acme; Inc.", member_count: 5001 });
      expect(users.slice(0, -1)).toMatchObject(
        ids.map((id) => ({
          id,
          public: id % 4 > 0,
          ...(id % 4 > 0 && {
            achievements: [{ id: 1, tier: 2, unlocked_at: "1970-01-01T00:00:07Z" }],
          }),
        })),
      );

      const stray = [-1, 0, 1, 10_001, 30_000, "NULL"];
      await server.run(`INSERT INTO badge VALUES ${rows(stray.map((id) => [id, 1, 1, 5]))}`);
      // The second row of a private user at the end of a page.
      await server.run("INSERT INTO member VALUES (10000, 0), (0, 0), (-7, 1), (NULL, 0)");
      const errors = String(await importFrom(url, queries)).split("\n");
      expect(errors.toSorted()).toEqual(
        [
          "user_achievements.sql, user_id -1: user_id: must be an integer from 1 to 9007199254740991, got -1",
          "user_achievements.sql, user_id 0: user_id: must be an integer from 1 to 9007199254740991, got 0",
          "user_achievements.sql, user_id 1: user_id: there is no user 1",
          "user_achievements.sql, user_id 10001: user_id: there is no user 10001",
          "user_achievements.sql, user_id 30000: user_id: there is no user 30000",
          "user_achievements.sql, user_id NULL: user_id: is missing",
          "users.sql, id -7: id: must be an integer from 1 to 9007199254740991, got -7",
          "users.sql, id 0: id: must be an integer from 1 to 9007199254740991, got 0",
          "users.sql, id 10000: id: duplicate user id 10000",
          "users.sql, id NULL: id: is missing",
        ].toSorted(),
      );
    });

    const users = select(values);
    test.each<[string, Record<string, string>, RegExp]>([
      ["no query for users", { roles: users }, /must have users\.sql or companies\.sql; its files/],
      [
        "an unknown query",
        { users, members: users },
        /has members\.sql, but its files must be role/,
      ],
      [
        "two statements",
        { users: `${users}; ${users}` },
        /users\.sql must have a single SELECT, but/,
      ],
      ["only a comment", { users: "-- later\n;" }, /users\.sql has no query/],
      [
        "no row",
        { users: `${users} FROM types WHERE 1 = 0` },
        /no users and no companies; nothing/,
      ],
      [
        "an unknown column",
        { users: select({ ...values, mail: 1 }) },
        /there is no column "mail"; the/,
      ],
      [
        "a missing column",
        { users: "SELECT 1 AS id" },
        /users\.sql: the column public is missing; the/,
      ],
      ["an unknown table", { users: "SELECT *\nFROM nowhere" }, /users\.sql, line 2: .*nowhere/],
      [
        "a syntax error",
        { users: "SELECT\n1 AS id,\n,FROM types" },
        /users\.sql, line 3: .*syntax/,
      ],
    ])("%s is an error", async (_, queries, expected) => {
      expect(await importFrom(url, queries)).toMatch(expected);
    });

    if (isServer)
      test("no message has the password", async () => {
        const at = new URL(url);
        const bad = (change: Partial<URL>) => Object.assign(new URL(url), change).href;
        const isPostgres = at.protocol === "postgres:";
        const grant = "GRANT SELECT ON platform.types TO guest@'127.0.0.1'";
        await server.run(
          isPostgres
            ? "CREATE USER guest PASSWORD 'Geheim42'"
            : `CREATE USER guest@'127.0.0.1' IDENTIFIED BY 'Geheim42'; ${grant}`,
        );
        const guest = { username: "guest", password: "Geheim42" };
        const queries = makeQueries({ users: "SELECT * FROM member" });
        for (const [database, expected] of [
          [bad(guest), /users\.sql.*: .*denied/],
          [bad({ ...guest, password: "Geheim43" }), /cannot connect .*(authentication|denied)/],
          [
            bad({ ...guest, port: "1" }),
            /cannot connect to the database at 127\.0\.0\.1:1: Failed/,
          ],
          [bad({ ...guest, pathname: "/no" }), /cannot connect/],
          [
            url.replace(/\/\/.*@/, "//guest:Geheim#4@"),
            /write special characters in a password as %XX/,
          ],
          [
            url.replace(/\/\/.*@/, "//guest:1/Geheim@"),
            /write special characters in a password as %XX/,
          ],
          [url.replace(/^\w+:/, "oracle:").replace("@", ":Geheim@"), /must be a postgres:/],
        ] as const) {
          const env = { ROADBOOK_DATABASE: database };
          const outcome = await roadbook(["import", "--queries", queries, "--to", "s"], { env });
          expect([outcome.stdout, outcome.stderr]).toEqual(["", expect.stringMatching(expected)]);
          expect(outcome.stderr).not.toContain("Geheim");
        }
      });

    test("a takedown in the middle of an import is a 403 afterwards", async () => {
      const target = await makeSnapshot();
      const users = select({ ...values, id: 42, public: sleep });
      const words = ["--queries", makeQueries({ users }), "--to", target, "--allow-shrink"];
      const importing = roadbook(["import", url, ...words]);
      await until(() => readdirSync(join(target, "..")).some((name) => name.endsWith(".new")));
      const stdin = '{"type":"user","id":42,"public":false}\n';
      const applying = roadbook(["apply", "-", "--to", target], { stdin });
      expect(await importing).toMatchObject({ code: 0, stderr: "" });
      expect(await applying).toMatchObject({ code: 0, stderr: "" });
      const { fetch, close } = await openInProcess({ snapshot: target });
      expect((await fetch("/users/public/42")).status).toBe(403);
      await close();
    });

    if (isServer)
      test("a connection that is lost halfway changes nothing", async () => {
        const target = await makeSnapshot();
        const before = stateOf(target);
        const users = select({ ...values, public: sleep });
        const words = ["--queries", makeQueries({ users }), "--to", target, "--allow-shrink"];
        const importing = roadbook(["import", url, ...words]);
        const list = url.startsWith("postgres")
          ? "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%LIMIT%' AND pid <> pg_backend_pid()"
          : "SELECT id FROM information_schema.processlist WHERE info LIKE '%LIMIT%' AND id <> CONNECTION_ID()";
        await until(async () => {
          const [killed] = (await server.run(list)) as { id: number }[];
          if (killed && !url.startsWith("postgres")) await server.run(`KILL ${killed.id}`);
          return killed;
        });
        expect(await importing).toMatchObject({
          code: 1,
          stderr: expect.stringMatching(/^roadbook: users\.sql: \S/),
        });
        expect(stateOf(target)).toEqual(before);
      });
  });
}

test.each([
  [["import", "dataset.ndjson", "--queries", "q", "--to", "s"], {}, "SOURCE must be a postgres://"],
  [["import", "--queries", "q", "--to", "s"], {}, "SOURCE is missing; usage: roadbook import"],
  [["import", "--to", "s"], { ROADBOOK_DATABASE: "" }, "ROADBOOK_DATABASE must not be empty"],
  [["import", "postgres://u:Geheim@h/d", "--to", "s"], {}, "SOURCE is a database; name the folder"],
  [["import", "--to", "s"], { ROADBOOK_DATABASE: "mysql://u:Geheim@h/d" }, "SOURCE is a database"],
  [["import", "oracle://u:Geheim@h/d", "--to", "s"], {}, "SOURCE must be a file, a folder, - or"],
  [["import", "sqlite:x", "--queries", "q", "--to", "s", "--expect-end"], {}, "--expect-end works"],
])("%j is a usage error", async (words, env, expected) => {
  const { code, stderr } = await roadbook(words, { env });
  expect(code).toBe(2);
  expect(stderr).toStartWith(`roadbook: ${expected}`);
  expect(stderr).not.toContain("Geheim");
});
