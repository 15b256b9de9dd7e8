/** Imports from SQLite databases that another program or another user uses. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable, run, temporaryFolder, tryProgram } from "../support.ts";

/** The ids of the users that own the site, and of another one. Neither has to exist. */
const OWNER = 65_531;
const OTHER = 65_532;

const isRoot = process.getuid?.() === 0;
const canBeOthers = isRoot && tryProgram("setpriv") && tryProgram("sqlite3");
if (!isRoot) console.warn("skipped: tests of another user's database need root");

/** Makes a site, whose database has two rows, and a folder of queries. */
async function makeSite(mode: "DELETE" | "WAL") {
  const folder = temporaryFolder();
  const site = join(folder, "site");
  mkdirSync(site);
  const path = join(site, "site.db");
  const db = new Database(path);
  db.run(`PRAGMA journal_mode = ${mode}`);
  db.run("CREATE TABLE member (id INTEGER)");
  db.run("INSERT INTO member VALUES (1), (2)");
  db.close();

  const queries = join(folder, "queries");
  mkdirSync(queries);
  const users = "SELECT id, 1 AS public, 'Ann' AS name, '2021-05-31' AS created_at FROM member";
  writeFileSync(join(queries, "users.sql"), users);
  const command = [await executable(), "import", "--queries", queries];
  return { folder, site, path, command };
}

/** Runs a command as another user, who may read everything, such as the executable of the tests. */
function runAs(user: number, command: string[], cwd: string) {
  const ids = [`--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
  const reach = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"];
  return run(["setpriv", ...ids, ...reach, ...command], { cwd });
}

test.if(canBeOthers).each([
  ["root", 0],
  ["another user", OTHER],
])(
  "%s is told how to import a WAL database of somebody who can then still write",
  async (_, user) => {
    const { folder, site, path, command } = await makeSite("WAL");
    chmodSync(site, 0o777);
    chmodSync(folder, 0o777);
    chmodSync(path, 0o666);
    chownSync(path, OWNER, OWNER);

    for (const flags of [["--dry-run"], ["--to", "../s"]]) {
      const { code, stderr } = await runAs(user, [...command, "sqlite:site.db", ...flags], site);
      expect(code).toBe(1);
      expect(stderr).toBe(
        'roadbook: cannot connect to site.db: it is in WAL mode, and its owner could not write to it after another user has read it; run the import as its owner, or import a copy that its owner makes: sqlite3 site.db ".backup copy.db" && sqlite3 copy.db "PRAGMA journal_mode = DELETE"\n',
      );
      expect(readdirSync(site)).toEqual(["site.db"]);
    }

    const insert = ["sqlite3", "site.db", "INSERT INTO member VALUES (3)"];
    expect(await runAs(OWNER, insert, site)).toMatchObject({ code: 0, stderr: "" });
    const imported = expect.stringContaining("3 users");
    const owned = await runAs(OWNER, [...command, "sqlite:site.db", "--dry-run"], site);
    expect(owned).toMatchObject({ code: 0, stdout: imported });
    expect(readdirSync(site)).toEqual(["site.db"]);

    const copying =
      'sqlite3 site.db ".backup copy.db" && sqlite3 copy.db "PRAGMA journal_mode = DELETE"';
    expect(await runAs(OWNER, ["sh", "-c", copying], site)).toMatchObject({ code: 0 });
    const copied = await runAs(user, [...command, "sqlite:copy.db", "--dry-run"], site);
    expect(copied).toMatchObject({ code: 0, stdout: imported });
    expect(readdirSync(site)).toEqual(["copy.db", "site.db"]);
  },
);

test.if(canBeOthers)(
  "a WAL database that stands where its owner may not write can be copied",
  async () => {
    const { folder, site, path, command } = await makeSite("WAL");
    chmodSync(folder, 0o777);
    chownSync(path, OTHER, OTHER);
    const refused = await runAs(OTHER, [...command, `sqlite:${path}`, "--dry-run"], folder);
    expect(refused).toMatchObject({
      code: 1,
      stderr: `roadbook: cannot connect to ${path}: it is in WAL mode where you may not write; copy it, with its -wal file if there is one, to a folder where you may\n`,
    });
    expect(readdirSync(site)).toEqual(["site.db"]);

    await runAs(OTHER, ["cp", path, "copy.db"], folder);
    const copied = await runAs(OTHER, [...command, "sqlite:copy.db", "--dry-run"], folder);
    expect(copied).toMatchObject({ code: 0, stdout: expect.stringContaining("2 users") });
    expect(readdirSync(folder).toSorted()).toEqual(["copy.db", "queries", "site"]);
  },
);

test("an import reads what a program that uses the database has just written", async () => {
  const { site, path, command } = await makeSite("WAL");
  using db = new Database(path);
  db.run("INSERT INTO member VALUES (3)");
  const files = readdirSync(site);
  expect(files).toContain("site.db-wal");

  const importing = await run([...command, "sqlite:site.db", "--dry-run"], { cwd: site });
  expect(importing).toMatchObject({ code: 0, stdout: expect.stringContaining("3 users") });
  expect(readdirSync(site)).toEqual(files);
  db.run("INSERT INTO member VALUES (4)");
});

/** Locks the database in another process, as a program that writes does, for `ms` milliseconds. */
async function lock(path: string, ms: number) {
  const script = `const { Database } = require("bun:sqlite");
    const db = new Database(${JSON.stringify(path)});
    db.run("BEGIN EXCLUSIVE; INSERT INTO member VALUES (3)");
    console.log("locked");
    setTimeout(() => db.run("COMMIT"), ${ms});`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  await child.stdout.getReader().read();
  return child;
}

test("an import waits for a program that writes", async () => {
  const { site, path, command } = await makeSite("DELETE");
  await using child = await lock(path, 1000);
  const importing = await run([...command, "sqlite:site.db", "--dry-run"], { cwd: site });
  expect(importing).toMatchObject({ code: 0, stdout: expect.stringContaining("3 users") });
  expect(await child.exited).toBe(0);
});

test("an import ends if another program goes on writing for longer than --timeout", async () => {
  const { site, path, command } = await makeSite("DELETE");
  await using _ = await lock(path, 600_000);
  const flags = ["sqlite:site.db", "--dry-run", "--timeout", "600ms"];
  expect(await run([...command, ...flags], { cwd: site })).toMatchObject({
    code: 1,
    stderr:
      "roadbook: cannot connect to site.db: another program is still writing to it after 0.6 s; raise --timeout, or wait for that program\n",
  });
});
