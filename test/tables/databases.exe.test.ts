/** Imports from real databases: types, pages, errors, and the queries in scripts/queries. */
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importDataset } from "../../src/import/import.ts";
import { exported, makeSnapshot, stateOf } from "../datasets.ts";
import { executable, root, temporaryFolder, until } from "../support.ts";
import { schemas } from "./schemas.ts";
import {
  type DatabaseServer,
  hasMariadb,
  hasPostgres,
  startMariadb,
  startPostgres,
} from "./servers.ts";

const isRequired = process.env.ROADBOOK_REQUIRE_ALL === "1";
const T = "2024-03-09T17:05:00Z";
const NOT_A_BOOLEAN = /public: (is missing|must be true or false, got)/;
const ZERO_DATE =
  /, got "0000-00-00.*"; it stands for no date: select NULL, and leave out such users/;
const SILENCE = "timed out: the database sent nothing for 0.5 s";
const NOT_TEXT = /^users\.sql, id 1: name: must be .*, got bytes that are not text/;
const NOT_AN_ID = /id: (is missing|must be an integer from 1 to 9007199254740991, got)/;

interface Family {
  has: boolean;
  start(): Promise<DatabaseServer>;
  /** Makes a table named types with one row. */
  types: string;
  /** A column of users, an SQL expression for it, and its value or the error. */
  cases: [string, string, unknown][];
  /** Odd types of the ids of users and of their roles, and the error. */
  odd: [string, string, RegExp];
  /** Types of the ids of users and of their roles that are compared differently, and the ids. */
  differs: [string, string, (n: number) => string][];
  /** What makes them the same. */
  cast: string;
  /** Types of ids, and what makes the id of a number, as text without quotes. */
  keys: [string, (n: number) => string][];
}

const uuid = (n: number) => `3f2504e0-4f89-41d3-9a0c-${String(n).padStart(12, "0")}`;
const discord = (n: number) => String(175928847299117063n + BigInt(n));
const unsigned = (n: number) => String(17592884729911706300n + BigInt(n));
const bytes = (n: number) => uuid(n).replaceAll("-", "");
/** 0, AB1, ab1, AB3, ab3 and so on, so that a page can end between two that differ in case. */
const mixed = (n: number) => (n === 0 ? "0" : n % 2 ? `AB'\\${n}` : `ab'\\${n - 1}`);

const numbers = Array.from({ length: 1501 }, (_, n) => n);

async function startSqlite(): Promise<DatabaseServer> {
  const path = join(temporaryFolder(), "platform.sqlite");
  const db = new Database(path);
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
    types: `CREATE TABLE types (one bit(1), zero bit(1), three bit(2), c char(5), b boolean, z timestamptz);
      CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      INSERT INTO types VALUES (B'1', B'0', B'11', 'yes', NULL, '2024-03-09 18:05:00+01');`,
    cases: [
      ["id", "42.0::numeric", 42],
      ["id", "9007199254740993", /id: .*, got 9007199254740993; such ids need --id-map FILE$/],
      [
        "id",
        "gen_random_uuid()",
        /^users\.sql, id .*: id: .*-.*-.*"; such ids need --id-map FILE$/,
      ],
      ["id", "'42'::text", 42],
      ["public", "one", true],
      ["public", "c", true],
      ["public", "zero", false],
      ["public", "three", NOT_A_BOOLEAN],
      ["public", "array[true]", NOT_A_BOOLEAN],
      ["public", "'\\x31'::bytea", NOT_A_BOOLEAN],
      ["public", "'\\x01'::bytea", NOT_A_BOOLEAN],
      ["created_at", "z", T],
      ["created_at", "timestamp '2024-03-09 17:05:00.9'", T],
      ["created_at", "date '2024-03-09'", "2024-03-09T00:00:00Z"],
      ["created_at", "z::text", T],
      ["created_at", "20240309170500", T],
      [
        "created_at",
        "timestamptz 'infinity'",
        /, got Infinity; it stands for no date: select NULL, and leave/,
      ],
    ],
    odd: ["int", "text", /^user_roles\.sql: user_id is not compared like id in users\.sql; write/],
    differs: [
      ["text COLLATE any_case", "text", mixed],
      ["varchar(40)", "text COLLATE any_case", mixed],
      ["bigint", "varchar(40)", discord],
    ],
    cast: 'CAST(? AS text) COLLATE "C"',
    keys: [
      ["uuid", uuid],
      ["bytea", bytes],
      ["bigint", discord],
      ["numeric", unsigned],
      ["char(40)", uuid],
      ["text COLLATE any_case", mixed],
    ],
  },
  MariaDB: {
    has: hasMariadb,
    start: startMariadb,
    types: `SET SESSION sql_mode = '', time_zone = '+00:00';
      CREATE TABLE types (yes tinyint(1), one bit(1), zero bit(1), eight bit(8),
        big bigint unsigned, stamp timestamp NULL, dt datetime(3), never datetime, day date,
        latin varchar(20) CHARACTER SET latin1, bytes varbinary(20));
      INSERT INTO types VALUES (1, b'1', b'0', b'1', 9007199254740993,
        '2024-03-09 17:05:00', '2024-03-09 17:05:00.999', 0, '2024-03-09', 'Müller', 'Łódź');
      UPDATE types SET eight = 49;`,
    cases: [
      ["id", "CAST(42 AS UNSIGNED)", 42],
      ["id", "CAST(42 AS DECIMAL)", 42],
      ["id", "big", NOT_AN_ID],
      ["public", "one", true],
      ["public", "eight", NOT_A_BOOLEAN],
      ["public", "b'1'", true],
      ["public", "yes = 0", false],
      ["created_at", "stamp", T],
      ["created_at", "dt", T],
      ["created_at", "day", "2024-03-09T00:00:00Z"],
      ["created_at", "never", ZERO_DATE],
      // As MediaWiki has it.
      ["created_at", "CAST('20240309170500' AS BINARY(14))", T],
      ["name", "latin", "Müller"],
      ["name", "bytes", "Łódź"],
      ["name", "x'41ff'", NOT_TEXT],
    ],
    // Sorted as listed here, and compared as text.
    odd: [
      `enum(${numbers.map((id) => `'${id}'`).reverse()})`,
      "int",
      /^users\.sql: id is not sorted as it is compared; write CAST\(id AS CHAR\)/,
    ],
    differs: [["varchar(40) COLLATE utf8mb4_bin", "varchar(40) COLLATE utf8mb4_general_ci", mixed]],
    cast: "CAST(? AS CHAR) COLLATE utf8mb4_bin",
    keys: [
      ["uuid", uuid],
      ["char(36)", uuid],
      ["binary(16)", bytes],
      ["bigint unsigned", unsigned],
      ["decimal(20)", unsigned],
      ["varchar(40) CHARACTER SET latin1 COLLATE latin1_german1_ci", mixed],
      ["text", mixed],
    ],
  },
  SQLite: {
    has: true,
    start: startSqlite,
    types: "CREATE TABLE types (i INTEGER); INSERT INTO types VALUES (1)",
    cases: [
      ["id", "'x'", NOT_AN_ID],
      ["id", "9007199254740993", NOT_AN_ID],
      ["public", "i > 1", false],
      ["public", "x'01'", NOT_A_BOOLEAN],
      ["created_at", "unixepoch('2024-03-09 17:05:00')", T],
      ["created_at", "'0000-00-00 00:00:00'", ZERO_DATE],
      ["name", "007", "7"],
      ["name", "CAST(x'41ff' AS TEXT)", "A\ufffd"],
    ],
    odd: [
      "INTEGER",
      "TEXT",
      /^user_roles\.sql: user_id is not compared like id in users\.sql; write/,
    ],
    // In queries.test.ts.
    differs: [],
    cast: "",
    keys: [
      ["INTEGER", discord],
      ["TEXT COLLATE NOCASE", mixed],
      ["BLOB", bytes],
    ],
  },
};

/** What the queries for a platform give, besides what schemas.ts says of every platform. */
interface Ready {
  /** The database that the platform runs on, if it does not run on both. */
  only?: "PostgreSQL" | "MariaDB";
  /** The private users. */
  hidden: number[];
  /** A statement that closes the platform to guests. */
  close?: string;
  /** The names of the roles. */
  titles?: string[];
  /** Fields of user 42. */
  [field: string]: unknown;
}

const cdn = { avatar_url: "https://cdn.example/42.png", company: { id: 3, role: "Owner" } };
const readyQueries: Record<string, Ready> = {
  plain: { ...cdn, roles: [1, 2], hidden: [43, 45, 50, 51] },
  laravel: { ...cdn, roles: [1, 2], hidden: [43, 44, 45, 46, 47, 50, 51] },
  phpbb: {
    avatar_url: "https://forum.example/download/file.php?avatar=42_1.png",
    company: { id: 3, role: "Leader" },
    roles: [2, 4],
    titles: ["Administrators", "Driver"],
    hidden: [43, 44, 45, 50, 51],
  },
  xenforo: {
    only: "MariaDB",
    avatar_url: "https://forum.example/download/data/avatars/l/0/42.jpg",
    company: null,
    roles: [3, 5],
    achievements: [{ id: 7, tier: 1, unlocked_at: T }],
    hidden: [43, 44, 45, 46, 47, 48, 49, 50, 51, 53],
    close: "DELETE FROM xf_permission_entry WHERE user_group_id = 1",
  },
  discourse: {
    only: "PostgreSQL",
    avatar_url: "https://forum.example/uploads/42.png",
    company: { id: 3, role: "Owner" },
    roles: [1, 2],
    hidden: [43, 44, 45, 46, 47, 48, 49, 50, 51, 53, 54, 55, 56],
    close: "UPDATE site_settings SET value = 't'",
  },
  mybb: {
    avatar_url: "https://forum.example/download/uploads/avatars/42.png?dateline=1",
    company: null,
    roles: [4, 6],
    achievements: [],
    hidden: [43, 44, 45, 46, 47, 48, 50, 51],
    close: "UPDATE mybb_usergroups SET canviewprofiles = 0 WHERE gid = 1",
  },
};

type Queries = Record<string, string | Uint8Array>;

function makeQueries(queries: Queries): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(queries)) {
    writeFileSync(join(folder, `${name}.sql`), text);
  }
  return folder;
}

const values = { id: "1", public: "1", name: "'Ann'", created_at: "1710003900" };
const select = (columns: object, from = "") =>
  `SELECT ${Object.entries(columns).map(([name, value]) => `${value} AS ${name}`)} ${from}`;

/** Reads the lines of a snapshot. */
async function linesOf(snapshot: string) {
  return (await exported(snapshot))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Reads the lines of a snapshot imported from a database, or the message of the error. */
async function importFrom(url: string, queries: Queries, idMap?: string) {
  const target = join(temporaryFolder(), "snapshot");
  return importDataset(url, target, { queries: makeQueries(queries), idMap }).then(
    () => linesOf(target),
    (error: Error) => error.message,
  );
}

const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

for (const [name, { has, start, types, cases, odd, differs, cast, keys }] of Object.entries(
  families,
)) {
  if (!has) console.warn(`${name} is missing: skipping imports from it`);
  describe.if(has || isRequired)(`from ${name}`, async () => {
    const server = has || isRequired ? await start() : undefined;
    if (!server) return;
    closers.push(server.close);
    const { url } = server;
    const isPostgres = url.startsWith("postgres");
    await server.run(types);
    await server.run("CREATE TABLE member (id bigint, hidden int)");
    await server.run("CREATE TABLE badge (member_id bigint, badge_id bigint, tier int, day int)");

    test.each(cases)("%s from %s", async (column, expression, expected) => {
      const users = select({ ...values, [column]: expression }, "FROM types");
      const found = await importFrom(url, { users });
      if (expected instanceof RegExp) expect(found).toMatch(expected);
      else expect(found[0]).toMatchObject({ type: "user", [column]: expected });
    });

    test("comments after a query are left out, but not what the server runs", async () => {
      const one = select(values, "FROM types");
      const another = select({ ...values, id: "2" }, "FROM types");
      const after = {
        PostgreSQL: "; /* a /* b */ c; */",
        MariaDB: ` /*!50000 UNION ALL ${another} */;`,
        SQLite: "; /* a /* b */;",
      };
      const found = await importFrom(url, { users: one + after[name as keyof typeof after] });
      expect(found).toHaveLength(name === "MariaDB" ? 3 : 2);
    });

    test("every row is read or reported, also at the edges of pages and in gaps", async () => {
      const ids = Array.from({ length: 2001 }, (_, at) => 2 * at + 2);
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
          "\ufeff-- ; public?\nSELECT id, 1 - hidden AS public, 'Ann' AS name, 1710003900 AS created_at, NULLIF(1, hidden) AS company_id FROM member -- end\n; /* ; */ -- end '\n;",
        companies: "SELECT 1 AS id, NULL AS member_count, 'Acme; Inc.' AS name",
        achievements:
          "SELECT 1 AS id, 'A' AS name, 'd' AS description, 'i' AS icon, 'k' AS kind, 1 AS tier, 1 AS points",
        user_achievements:
          "SELECT member_id AS user_id, badge_id AS achievement_id, tier, 1710003900 + day AS unlocked_at FROM badge",
      };
      const [, company, ...users] = await importFrom(url, queries);
      expect(company).toMatchObject({ name: "Acme; Inc.", member_count: 1001 });
      expect(users.slice(0, -1)).toMatchObject(
        ids.map((id) => ({
          id,
          public: id % 4 > 0,
          ...(id % 4 > 0 && {
            achievements: [{ id: 1, tier: 2, unlocked_at: "2024-03-09T17:05:07Z" }],
          }),
        })),
      );

      const stray = [-1, 0, 1, 2001, 30_000, "NULL"];
      await server.run(`INSERT INTO badge VALUES ${rows(stray.map((id) => [id, 1, 1, 5]))}`);
      // The second row of a private user at the end of a page.
      await server.run("INSERT INTO member VALUES (2000, 0), (0, 0), (-7, 1), (NULL, 0)");
      const errors = String(await importFrom(url, queries)).split("\n");
      const notAnId = "must be an integer from 1 to 9007199254740991, got";
      expect(errors.toSorted()).toEqual(
        [
          `user_achievements.sql, user_id -1: user_id: ${notAnId} -1`,
          `user_achievements.sql, user_id 0: user_id: ${notAnId} 0`,
          "user_achievements.sql, user_id 1: user_id: there is no user 1",
          "user_achievements.sql, user_id 2001: user_id: there is no user 2001",
          "user_achievements.sql, user_id 30000: user_id: there is no user 30000",
          "user_achievements.sql, user_id NULL: user_id: is missing",
          `users.sql, id -7: id: ${notAnId} -7`,
          `users.sql, id 0: id: ${notAnId} 0`,
          "users.sql, id 2000: id: duplicate user id 2000",
          "users.sql, id NULL: id: is missing",
        ].toSorted(),
      );
    });

    test("names of companies that the database equates, or that fold alike, are found", async () => {
      const named = ["Straße", "STRASSE", "straße ", "Ünal", "unal"];
      const users = named.map((name, at) =>
        select({ ...values, id: at + 1, company: `'${name}'` }),
      );
      const found = [...(await importFrom(url, { users: users.join(" UNION ALL ") }))];
      const [one, two] = found;
      expect([one, two].map(({ member_count }) => member_count).sort()).toEqual([2, 3]);
      expect(found.slice(2, -1).map(({ company }: { company: object }) => company)).toMatchObject(
        named.map((_, at) => ({ id: (one.member_count === 3) === at < 3 ? one.id : two.id })),
      );
    });

    test.each(keys)("ids of the type %s are read in pages with --id-map", async (type, keyOf) => {
      const at = keys.findIndex(([name]) => name === type);
      const literal = (n: number) => {
        const hex = isPostgres ? `'\\x${keyOf(n)}'` : `x'${keyOf(n)}'`;
        if (keyOf === bytes) return hex;
        const special = url.startsWith("mysql") ? /['\\]/g : /'/g;
        return `'${keyOf(n).replace(special, (each) => (each === "'" ? "''" : "\\\\"))}'`;
      };
      const rows = numbers.map((n) => `(${literal(n)})`);
      await server.run(`CREATE TABLE keyed_${at} (id ${type})`);
      await server.run(`INSERT INTO keyed_${at} VALUES ${rows}`);
      await server.run(
        `CREATE INDEX keyed_index_${at} ON keyed_${at} (${type === "text" ? "id(40)" : "id"})`,
      );
      const from = `FROM keyed_${at}`;
      const queries = {
        users: select({ ...values, id: "id" }, from),
        roles: "SELECT 1 AS id, 'Driver' AS name, 1 AS hierarchy",
        user_roles: select({ user_id: "id", role_id: 1 }, from),
      };
      const idMap = join(temporaryFolder(), "ids");
      const users = (await importFrom(url, queries, idMap)).slice(2, -1);
      expect(users).toMatchObject(numbers.map((n) => ({ id: n + 1, roles: [1] })));
      using map = new Database(idMap);
      const mapped = map.query<{ key: string }, []>("SELECT key FROM user").all();
      expect(mapped.map(({ key }) => key).sort()).toEqual(numbers.map(keyOf).sort());

      await server.run(`INSERT INTO keyed_${at} VALUES (NULL)`);
      const lost = {
        ...queries,
        users: `${queries.users} WHERE id <> ${literal(0)} OR id IS NULL`,
      };
      const place = `user_roles.sql, user_id ${keyOf(0)}`;
      expect(String(await importFrom(url, lost, idMap)).split("\n")).toEqual([
        "user_roles.sql, user_id NULL: user_id: is missing",
        "users.sql, id NULL: id: is missing",
        `${place}: user_id: there is no user ${keyOf(0)}`,
      ]);
    });

    test("no row is lost in silence, whatever the types of ids", async () => {
      const [users, roles, expected] = odd;
      await server.run(`CREATE TABLE odd_users (id ${users})`);
      await server.run(`CREATE TABLE odd_roles (id ${roles})`);
      for (const table of ["odd_users", "odd_roles"])
        await server.run(`INSERT INTO ${table} VALUES ${numbers.map((id) => `('${id}')`)}`);
      const queries = {
        users: select({ ...values, id: "id" }, "FROM odd_users"),
        roles: "SELECT 1 AS id, 'Driver' AS name, 1 AS hierarchy",
        user_roles: select({ user_id: "id", role_id: 1 }, "FROM odd_roles"),
      };
      expect(await importFrom(url, queries)).toMatch(expected);
    });

    test.each(differs)(
      "ids of the types %s and %s are one error, with its cure",
      async (...row) => {
        const [users, roles, keyOf] = row;
        const rows = numbers.map((n) => `('${keyOf(n).replaceAll(/['\\]/g, "-")}')`);
        for (const [table, type] of [
          ["one_users", users],
          ["one_roles", roles],
        ]) {
          await server.run(`DROP TABLE IF EXISTS ${table}`);
          await server.run(`CREATE TABLE ${table} (id ${type})`);
          await server.run(`INSERT INTO ${table} VALUES ${rows}`);
        }
        const read = (id: string) => ({
          users: select({ ...values, id }, "FROM one_users"),
          roles: "SELECT 1 AS id, 'Driver' AS name, 1 AS hierarchy",
          user_roles: select({ user_id: id, role_id: 1 }, "FROM one_roles"),
        });
        const idMap = join(temporaryFolder(), "ids");
        const ours = cast.replace("?", "user_id");
        const theirs = cast.replace("?", "id");
        expect(await importFrom(url, read("id"), idMap)).toBe(
          `user_roles.sql: user_id is not compared like id in users.sql; write ${ours} here and ${theirs} there`,
        );
        const cured = (await importFrom(url, read(theirs), idMap)).slice(2, -1);
        expect(cured).toMatchObject(numbers.map(() => ({ roles: [1] })));
      },
    );

    // SQLite has no enums.
    if (name !== "SQLite") {
      test("an id that an enum cannot have does not hide that another is compared differently", async () => {
        const letters = "ENUM ('b', 'a')";
        if (isPostgres) await server.run(`CREATE TYPE letter AS ${letters}`);
        await server.run(`CREATE TABLE letters (id ${isPostgres ? "letter" : letters})`);
        await server.run("INSERT INTO letters VALUES ('b'), ('a')");
        const idMap = join(temporaryFolder(), "ids");
        const queries = {
          users: select({ ...values, id: "id" }, "FROM letters"),
          user_roles: select({ user_id: "'x'", role_id: 1 }),
        };
        expect(await importFrom(url, queries, idMap)).toContain("there is no user x");
        const unlocks = select({ user_id: "'b'", achievement_id: 1, tier: 1, unlocked_at: 1 });
        expect(await importFrom(url, { ...queries, user_achievements: unlocks }, idMap)).toMatch(
          /^user_achievements\.sql: user_id is not compared like id in users\.sql; write/,
        );
      });
    }

    test("columns are found in any case, and unknown ones are left out and reported", async () => {
      const quote = (name: string) => (url.startsWith("mysql") ? `\`${name}\`` : `"${name}"`);
      const columns = { ...values, Avatr: "'x'", "e'mail": "5" };
      const named = Object.entries(columns).map(([name, value]) => [quote(name), value]);
      const text = select(Object.fromEntries(named)).replace(quote("id"), quote("Id"));
      const target = join(temporaryFolder(), "snapshot");
      const queries = makeQueries({ "Users ": text });
      const { unknownColumns } = await importDataset(url, target, { queries });
      const [line] = await linesOf(target);
      expect(line).toMatchObject({ id: 1, name: "Ann", avatar_url: null, created_at: T });
      expect(unknownColumns).toEqual([
        { file: "users.sql", column: "Avatr", meant: "avatar_url" },
        { file: "users.sql", column: "e'mail" },
      ]);
    });

    const users = select(values);
    const closing = `${users}) AS q; COMMIT; CREATE TABLE evil (i int); SELECT * FROM (${users}`;
    test.each<[string, Queries, RegExp]>([
      [
        "an unknown query",
        { users, members: users },
        / has the unknown file members\.sql; the files can be/,
      ],
      ["two statements", { users: `${users}; ${users}` }, /^users\.sql: .*syntax/],
      ["a closed subquery", { users: closing }, /^users\.sql: .*(multiple|syntax|one statement)/],
      ["invalid UTF-8", { users: Buffer.from("\xff", "latin1") }, /^users\.sql is not valid UTF-8/],
      ["an empty query", { users: " ;\n" }, /^users\.sql: .*syntax/],
      ["a missing column", { users: "SELECT 1 AS id" }, /^users\.sql: no column is public or/],
      ["an unknown table", { users: "SELECT *\nFROM nowhere" }, /^users\.sql: .*nowhere/],
    ])("%s is an error", async (_, queries, expected) => {
      expect(await importFrom(url, queries)).toMatch(expected);
      await expect(server.run("SELECT * FROM evil")).rejects.toThrow();
    });

    test("an error names a query or a folder of queries that cannot be read", async () => {
      const queries = temporaryFolder();
      mkdirSync(join(queries, "users.sql"));
      const target = join(temporaryFolder(), "snapshot");
      const imported = importDataset(url, target, { queries });
      await expect(imported).rejects.toThrow(/users\.sql is not a regular file$/);
      const missing = importDataset(url, target, { queries: "missing" });
      await expect(missing).rejects.toThrow(/^missing is not a folder$/);
    });

    if (url.startsWith("sqlite")) return;

    test("no message has the password", async () => {
      const bad = (change: Partial<URL>) => Object.assign(new URL(url), change).href;
      await server.run(
        isPostgres
          ? "CREATE USER guest PASSWORD 'Geheim42'"
          : "CREATE USER guest@'127.0.0.1' IDENTIFIED BY 'Geheim42'; GRANT SELECT ON platform.types TO guest@'127.0.0.1'",
      );
      const guest = { username: "guest", password: "Geheim42" };
      for (const [database, expected] of [
        [bad(guest), /users\.sql.*: .*denied/],
        [bad({ ...guest, password: "Geheim43" }), /cannot connect .*(authentication|denied)/],
        [
          bad({ ...guest, port: "1" }),
          /cannot connect to the database at 127\.0\.0\.1:1: connection refused, or no route/,
        ],
        [bad({ hostname: "no.invalid" }), /cannot connect .*: cannot resolve host name$/],
        [url.replace(/\/\/.*@/, "//guest:Geheim#4@"), /write special characters in it as %XX/],
        [url.replace(/\/\/.*@/, "//guest:Geheim%@"), /write special characters in it as %XX/],
        [`${bad(guest)}%zz`, /write special characters in it as %XX/],
        [url.replace(/^\w+:/, "oracle:").replace("@", ":Geheim@"), /must be a postgres:/],
      ] as const) {
        const message = await importFrom(database, { users: "SELECT * FROM member" });
        expect(message).toMatch(expected);
        expect(message).not.toContain("Geheim");
      }
    });

    test("the database is the one in the URL, whatever the environment says", async () => {
      const [name, other] = isPostgres
        ? ["PGDATABASE", "template1"]
        : ["MYSQL_DATABASE", "information_schema"];
      const before = process.env[name];
      process.env[name] = other;
      try {
        const [user] = await importFrom(url, { users: select(values, "FROM types") });
        expect(user).toMatchObject({ id: 1 });
      } finally {
        if (before === undefined) delete process.env[name];
        else process.env[name] = before;
      }
    });

    if (!isPostgres) {
      test("a page of a query that groups rows reads few of them", async () => {
        await server.run(
          "CREATE TABLE grouped (user_id INT, badge_id INT, PRIMARY KEY (user_id, badge_id)); INSERT INTO grouped SELECT u.seq, b.seq FROM seq_1_to_10000 u, seq_1_to_3 b; ANALYZE TABLE grouped",
        );
        const countReads = async () => {
          const counts = "SHOW GLOBAL STATUS LIKE 'Handler_read%'";
          const rows = (await server.run(counts)) as { Value: string }[];
          return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
        };
        const before = await countReads();
        const users = await importFrom(url, {
          users: select({ ...values, id: "seq" }, "FROM seq_1_to_10000"),
          roles: "SELECT 1 AS id, 'Driver' AS name, 1 AS hierarchy",
          user_roles: "SELECT user_id, 1 AS role_id FROM grouped GROUP BY user_id",
        });
        expect(users.at(-2)).toMatchObject({ id: 10_000, roles: [1] });
        // If each of ten pages read all groups, these would be more than 600,000.
        expect((await countReads()) - before).toBeLessThan(300_000);
      });
    }

    const sleeping = (seconds = 60) => {
      const sleep = isPostgres
        ? `(SELECT 1 FROM pg_sleep(${seconds}))`
        : `(SELECT SLEEP(${seconds}) + 1)`;
      return makeQueries({ users: select({ ...values, public: sleep }) });
    };

    test("a query with a slow page is named once", async () => {
      const named: string[] = [];
      const options = { queries: sleeping(0.6), onSlow: (file: string) => named.push(file) };
      const target = join(temporaryFolder(), "snapshot");
      await importDataset(url, target, options);
      expect(named).toEqual(["users.sql"]);
    });

    test("a connection that is lost halfway changes nothing", async () => {
      const target = await makeSnapshot();
      const before = stateOf(target);
      const queries = sleeping();
      const importing = importDataset(url, target, { queries }).catch((error) => error.message);
      // PostgreSQL also lists the last query of the connection of another test that has just ended.
      const list = isPostgres
        ? "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%AS q %' AND pid <> pg_backend_pid()"
        : "SELECT id FROM information_schema.processlist WHERE info LIKE '%AS q %' AND id <> CONNECTION_ID()";
      await until(async () => {
        const [killed] = (await server.run(list)) as { id: number }[];
        if (killed && !isPostgres) await server.run(`KILL ${killed.id}`);
        return killed;
      });
      expect(await importing).toMatch(/^users\.sql: \S/);
      expect(stateOf(target)).toEqual(before);
    });

    test("a database that goes silent ends the import", async () => {
      const target = await makeSnapshot();
      const before = stateOf(target);
      const importing = importDataset(url, target, { queries: sleeping(), timeoutMs: 500 });
      expect(await importing.catch((error) => error.message)).toBe(
        `users.sql: ${SILENCE}; run ANALYZE there, or raise --timeout`,
      );
      expect(stateOf(target)).toEqual(before);
    });

    const folders = Object.keys(schemas).filter((folder) => {
      const { only = name } = readyQueries[folder] ?? {};
      return only === name;
    });
    test.each(folders)(
      "the queries in scripts/queries/%s publish a dirty database",
      async (folder) => {
        const begin = isPostgres
          ? "DROP SCHEMA public CASCADE; CREATE SCHEMA public; SET TIME ZONE 'UTC';"
          : "DROP DATABASE platform; CREATE DATABASE platform CHARACTER SET utf8mb4; USE platform; SET time_zone = '+00:00';";
        const text = schemas[folder] ?? "";
        const fill = isPostgres ? text : text.replaceAll("CHR(", "CHAR(");
        await server.run(begin + fill).catch((error) => {
          throw new Error(
            `test/tables/schemas/${folder}.sql does not load: ${error.message}; mend it, or set \`only\` in readyQueries if the platform does not run on ${name}`,
          );
        });
        const target = join(temporaryFolder(), "snapshot");
        const queries = join(root, "scripts/queries", folder);
        const avatarBase = "https://forum.example/download/file.php";
        const decodeHtml = folder === "phpbb";
        const options = { queries, avatarBase, decodeHtml, skipInvalid: true };
        const { skipped } = await importDataset(url, target, options);
        const isXenforo = folder === "xenforo"; // Its avatars have no names of their own.
        expect(skipped.format().split("\n").sort()).toEqual([
          expect.stringContaining("users.sql, id 50: name"),
          expect.stringContaining("users.sql, id 51: created_at"),
          ...(isXenforo ? [] : [expect.stringContaining("users.sql, id 52: avatar_url")]),
        ]);
        const lines = await linesOf(target);
        const ready = readyQueries[folder];
        if (!ready) throw new Error(`add what scripts/queries/${folder} gives to readyQueries`);
        const { only, hidden, close, titles, ...expected } = ready;
        const roles = lines.filter(({ type }) => type === "role").map(({ name }) => name);
        if (titles) expect<unknown>(roles).toEqual(titles);
        const users = lines.filter(({ type }) => type === "user");
        const private_ = hidden.map((id) => ({ type: "user", id, public: false }));
        expect(users.filter((user) => !user.public)).toEqual(private_);
        const unlock = { id: 7, tier: 2, unlocked_at: T };
        const user = { type: "user", public: true, created_at: "2021-05-01T10:00:00Z" };
        const other = { avatar_url: null, company: null };
        expect(users.filter((user) => user.public)).toEqual([
          { ...user, id: 42, name: "Łukasz 田中", achievements: [unlock], ...expected },
          { ...user, ...other, id: 52, name: "Odd avatar", roles: [], achievements: [] },
        ]);
        const companies = lines.filter(({ type }) => type === "company");
        const company = {
          type: "company",
          id: 3,
          name: 'O\'Brien "Łódź" 🚚',
          member_count: 2,
        };
        expect(companies[0]).toEqual(expected.company ? company : undefined);
        expect(companies).toHaveLength(folder === "plain" ? 2 : Number(expected.company !== null));
        if (!close) return;
        await server.run(close);
        const closed = join(temporaryFolder(), "snapshot");
        expect((await importDataset(url, closed, options)).counts.public_users).toBe(0);
      },
    );
  });
}

describe("during a handshake that never ends", () => {
  let connections = 0;
  const socket = { open: () => void connections++, data() {} };
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
  afterAll(() => server.stop(true));
  const place = `127.0.0.1:${server.port}`;
  const queries = makeQueries({ users: select(values) });

  test.each(["postgres", "mysql"])("an import from %s times out", async (scheme) => {
    const target = join(temporaryFolder(), "snapshot");
    const url = `${scheme}://reader:Geheim@${place}/platform`;
    const importing = importDataset(url, target, { queries, timeoutMs: 500 });
    const expected = `cannot connect to the database at ${place}: ${SILENCE}`;
    expect(await importing.catch((error) => error.message)).toBe(expected);
  });

  test("a signal ends an import", async () => {
    const words = ["import", `mysql://reader@${place}/platform`, "--queries", queries];
    const target = join(temporaryFolder(), "snapshot");
    const command = [await executable(), ...words, "--to", target];
    const before = connections;
    const child = Bun.spawn(command, { stderr: "pipe" });
    await until(() => connections > before);
    child.kill("SIGINT");
    const line = "roadbook: ended by SIGINT; no file was changed\n";
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([130, line]);
  });
});
