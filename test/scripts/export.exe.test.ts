/** Runs the scripts in scripts/export on real PostgreSQL and MariaDB servers. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable, openExecutable, root, run, temporaryFolder, until } from "../support.ts";

const isRequired = process.env.ROADBOOK_REQUIRE_ALL === "1";

/** Returns the shell commands from the comment at the start of a script. */
function commandOf(script: string): string {
  const [, command = ""] = /^-- +set -o pipefail\n((?:-- +.+\n)+)/m.exec(script) ?? [];
  if (command === "") throw new Error("the script's head has no command");
  return `set -o pipefail; ${command.replaceAll(/^-- +/gm, "")}`;
}

/**
 * Returns SQL for a platform's tables, with missing, duplicate and invalid values. Only the ids are
 * required. `zoned` and `local` are column types for times with and without a time zone. `never` is
 * a value that both types accept but that is not a real time.
 */
const tables = (zoned: string, local: string, text: string, never: string) => `
CREATE TABLE users (id bigint PRIMARY KEY, name ${text}, avatar_url ${text}, is_public boolean, created_at ${zoned});
CREATE TABLE companies (id bigint PRIMARY KEY, name ${text});
CREATE TABLE company_members (company_id bigint, user_id bigint, role ${text});
CREATE TABLE roles (id bigint PRIMARY KEY, name ${text}, hierarchy int);
CREATE TABLE user_roles (user_id bigint, role_id bigint);
CREATE TABLE achievements (id bigint PRIMARY KEY, name ${text}, description ${text}, icon ${text}, kind ${text}, tier int, points int);
CREATE TABLE user_achievements (user_id bigint, achievement_id bigint, tier int, unlocked_at ${local});
INSERT INTO roles VALUES (1, 'Driver', 10), (2, 'Patron', 20), (5, '  ', NULL);
INSERT INTO companies VALUES (3, 'O''Brien "Łódź" 🚚'), (9, NULL);
INSERT INTO achievements VALUES (7, 'Night Owl', CONCAT('Two', CHR(10), 'lines, a ', CHR(92), ' and a ', CHR(9), 'tab.'), 'owl.svg', 'time', 1, 25), (8, 'Early Bird', 'Up.', 'bird.svg', 'time', 1, 5), (9, NULL, NULL, NULL, NULL, NULL, -1);
INSERT INTO users VALUES (42, 'Łukasz "Diesel" 田中 🚛', 'https://cdn.example/42.png', true, '2021-05-01 10:00:00'), (43, 'Verysecret', '/secret.png', false, '2021-05-01 10:00:00'), (44, 'Nobody', NULL, true, '2022-01-31 23:59:59'), (45, 'Verysecret too', '/secret.png', NULL, '2022-01-31 23:59:59');
INSERT INTO users VALUES (50, ' ${"\t"} ', '', true, NULL), (51, '${"田".repeat(250)}', 'N/A', true, '${never}'), (52, 'Path', '/a/52.png', true, '2022-01-31 23:59:59'), (53, 'Other host', '//evil.example/a.png', true, '2022-01-31 23:59:59');
INSERT INTO company_members VALUES (3, 42, 'Owner'), (3, 43, 'Spy'), (3, 50, ''), (3, 50, ''), (9, 50, 'Owner'), (9, 51, NULL), (777, 52, 'Gone'), (9, NULL, NULL);
INSERT INTO user_roles VALUES (42, 1), (42, 2), (43, 1), (50, 5), (50, 5), (50, 777), (50, NULL);
INSERT INTO user_achievements VALUES (42, 7, 2, '2024-03-09 17:05:00'), (42, 8, 1, '2024-03-10 00:00:00'), (43, 7, 1, '2024-03-09 17:05:00');
INSERT INTO user_achievements VALUES (50, 9, 1, '2024-03-01 00:00:00'), (50, 9, 3, '2024-03-03 00:00:00'), (50, 9, 2, '2024-03-02 00:00:00'), (50, 9, 4, NULL), (50, 7, 1, '${never}'), (50, 777, 1, '2024-03-01 00:00:00'), (50, 8, NULL, '2024-03-01 00:00:00');
`;

/**
 * Runs the commands at the start of a script, then serves the snapshot and checks the responses.
 */
async function importAndCheck(file: string, env: Record<string, string>) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "dist"));
  mkdirSync(join(folder, "scripts/export"), { recursive: true });
  symlinkSync(await executable(), join(folder, "dist/roadbook"));
  const script = await Bun.file(join(root, file)).text();
  writeFileSync(join(folder, file), script);
  const command = commandOf(script);
  const options = { cwd: folder, env: { ...env, PATH: path } };
  const sh = (text: string) => run(["bash", "-c", text], options);

  const stream = await sh(command.replace(/\|[\s\S]*/, ""));
  expect([stream.code, stream.stderr]).toEqual([0, ""]);
  expect(stream.stdout).not.toMatch(/secret|Spy/i);
  expect(
    stream.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .at(-1),
  ).toEqual({
    type: "end",
    lines: 16,
  });
  expect(await sh(command)).toMatchObject({
    code: 0,
    stderr: "",
    stdout:
      "imported 8 users (6 public), 2 companies, 3 achievements, 3 roles to community.snapshot\n",
  });

  // An export that fails before or after writing its first line leaves the snapshot unchanged.
  const before = Bun.hash(readFileSync(join(folder, "community.snapshot")));
  for (const broken of [
    script.replaceAll("FROM users", "FROM nowhere"),
    script.replace("WITH line", "SELECT 1/;\nWITH line"),
  ]) {
    writeFileSync(join(folder, file), broken);
    const { code, stderr } = await sh(command);
    expect(code).not.toBe(0);
    expect(stderr).toContain("roadbook: ");
  }
  expect(Bun.hash(readFileSync(join(folder, "community.snapshot")))).toBe(before);

  const server = await openExecutable(["--snapshot", join(folder, "community.snapshot")]);
  const get = async (path: string) => (await server.fetch(path)).text();
  expect(await get("/users/public/42")).toBe(
    '{"success":true,"user":{"id":42,"name":"Łukasz \\"Diesel\\" 田中 🚛","avatar_url":"https://cdn.example/42.png","company":{"id":3,"name":"O\'Brien \\"Łódź\\" 🚚","role":"Owner"},"roles":[{"id":2,"name":"Patron","hierarchy":20},{"id":1,"name":"Driver","hierarchy":10}],"created_at":"2021-05-01T10:00:00Z"}}',
  );
  const { achievements } = JSON.parse(await get("/users/42/achievements"));
  expect(achievements[0].unlocked_at).toBe("2024-03-10T00:00:00Z");
  expect(achievements[1].achievement.description).toBe("Two\nlines, a \\ and a \ttab.");
  expect(JSON.parse(await get("/users/public/44")).user).toMatchObject({
    avatar_url: `${server.origin}/avatars/44.svg`,
    created_at: "2022-01-31T23:59:59Z",
    company: null,
    roles: [],
  });
  for (const id of [43, 45]) {
    expect(JSON.parse(await get(`/users/public/${id}`)).error.code).toBe("profile_private");
  }
  expect(JSON.parse(await get("/search/companies?q=brien")).companies[0].member_count).toBe(3);

  const drawn = (id: number) => `${server.origin}/avatars/${id}.svg`;
  const member = (id: number, name: string) => ({ id, name, role: "Member" });
  const unknown = "1970-01-01T00:00:00Z";
  const avatar = `${server.origin}/a/52.png`;
  for (const [id, name, avatar_url, company, created_at] of [
    [50, "User 50", drawn(50), member(3, 'O\'Brien "Łódź" 🚚'), unknown],
    [51, "田".repeat(200), drawn(51), member(9, "Company 9"), unknown],
    [52, "Path", avatar, null, "2022-01-31T23:59:59Z"],
    [53, "Other host", drawn(53), null, "2022-01-31T23:59:59Z"],
  ] as const) {
    expect(JSON.parse(await get(`/users/public/${id}`)).user).toEqual({
      id,
      name,
      avatar_url,
      company,
      roles: id === 50 ? [{ id: 5, name: "Role 5", hierarchy: 0 }] : [],
      created_at,
    });
  }
  const definition = { description: "", icon: "", type: "", tier: 0, points: 0 };
  expect(JSON.parse(await get("/users/50/achievements")).achievements).toMatchObject([
    {
      achievement: { id: 9, name: "Achievement 9", ...definition },
      tier: 3,
      unlocked_at: "2024-03-03T00:00:00Z",
    },
    { achievement: { id: 8 }, tier: 0, unlocked_at: "2024-03-01T00:00:00Z" },
  ]);
  await server.close();
}

const succeeds = async (command: string[], env: Record<string, string>) =>
  (await run(command, { env })).code === 0;

const path = `${process.env.PATH}:/usr/sbin`;
const [initdb] = [
  ...new Bun.Glob("*/bin/initdb").scanSync({
    cwd: "/usr/lib/postgresql",
    absolute: true,
    throwErrorOnBrokenSymlink: false,
  }),
]
  .sort()
  .reverse();
const hasMariadb = Bun.which("mariadbd", { PATH: path }) !== null;
if (!initdb) console.warn("PostgreSQL is missing: skipping its export script");
if (!hasMariadb) console.warn("MariaDB is missing: skipping its export script");

const onPostgresql = test.concurrent.if(initdb !== undefined || isRequired);
onPostgresql("postgresql.sql exports a dataset with no private data except ids", async () => {
  const folder = temporaryFolder();
  // PostgreSQL refuses to run as root, but its own user might not have access to root's folder.
  const reach = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  const user =
    process.getuid?.() === 0
      ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", ...reach]
      : [];
  const bin = (initdb ?? "initdb").replace(/initdb$/, "");
  const env = {
    PATH: path,
    LC_ALL: "C.UTF-8",
    DATABASE_URL: `postgresql:///postgres?host=${folder}&user=platform`,
  };
  const data = join(folder, "data");
  const made = await run(
    [...user, `${bin}initdb`, "-D", data, "-U", "platform", "-A", "trust", "-E", "UTF8", "-N"],
    { env, cwd: folder },
  );
  expect([made.code, made.stderr]).toEqual([0, expect.anything()]);
  const server = Bun.spawn([...user, `${bin}postgres`, "-D", data, "-k", folder, "-h", "", "-F"], {
    env,
    cwd: folder,
    stderr: "ignore",
  });
  await until(() => succeeds(["psql", "-qX", "-c", "SELECT 1", env.DATABASE_URL], env));
  const filled = await run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", env.DATABASE_URL], {
    env,
    stdin: `SET TIME ZONE 'UTC'; ${tables("timestamptz", "timestamp", "text", "infinity")}`,
  });
  expect(filled).toMatchObject({ code: 0, stderr: "" });
  await importAndCheck("scripts/export/postgresql.sql", { ...env, PGTZ: "Asia/Tokyo" });
  server.kill("SIGINT");
  await server.exited;
});

const onMariadb = test.concurrent.if(hasMariadb || isRequired);
onMariadb("mysql.sql exports a dataset with no private data except ids", async () => {
  const folder = temporaryFolder();
  const socket = join(folder, "socket");
  const env = { PATH: path, HOME: folder };
  writeFileSync(join(folder, ".my.cnf"), `[client]\nsocket=${socket}\nuser=root\n`);
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  const unsynced = "--innodb-flush-method=nosync";
  const place = ["--no-defaults", `--datadir=${join(folder, "data")}`, ...user, unsynced];
  const made = await run(
    ["mariadb-install-db", ...place, "--skip-test-db", "--auth-root-authentication-method=normal"],
    { env },
  );
  expect([made.code, made.stderr]).toEqual([0, expect.anything()]);
  const server = Bun.spawn(
    ["mariadbd", ...place, "--skip-networking", `--socket=${socket}`, "--default-time-zone=+09:00"],
    { env, stderr: "ignore" },
  );
  await until(() => succeeds(["mysql", "-e", "SELECT 1"], env));
  const schema = tables(
    "timestamp NULL",
    "datetime",
    "varchar(500)",
    "0000-00-00 00:00:00",
  ).replaceAll("CHR(", "CHAR(");
  const filled = await run(["mysql", "--default-character-set=utf8mb4"], {
    env,
    stdin: `CREATE DATABASE platform CHARACTER SET utf8mb4; USE platform; SET time_zone = '+00:00'; ${schema}`,
  });
  expect(filled).toMatchObject({ code: 0, stderr: "" });
  await importAndCheck("scripts/export/mysql.sql", env);
  server.kill("SIGTERM");
  await server.exited;
});
