/** Runs every command in the README and checks the README's table of flags. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readOptions, type Setting, serveSettings } from "../src/serve-flags.ts";
import { executable, readyOrigin, root, run, temporaryFolder, until } from "./support.ts";

const readme = await Bun.file(join(root, "README.md")).text();
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, text = ""]) => text.trim(),
  );
const [start = "", testCommand = "", ...everyday] = blocks("sh");

/** Copies the files in git, including uncommitted changes, as a new user would check them out. */
async function checkOut(): Promise<string> {
  const folder = temporaryFolder();
  const { stdout } = await run(["git", "ls-files", "-co", "--exclude-standard"], { cwd: root });
  for (const file of stdout.trim().split("\n")) {
    if (!(await Bun.file(join(root, file)).exists())) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  return folder;
}

const npx = Bun.which("npx");

/**
 * Returns a PATH with these programs, the system's programs, and the programs installed beside npx.
 * It has no Bun unless `programs` does, even if `npm install -g` has put Bun beside npx.
 */
function pathWith(programs: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, target] of Object.entries(programs)) symlinkSync(target, join(folder, name));
  const others = new Set(["bun", "bunx", ...Object.keys(programs)]);
  for (const place of new Set(["/usr/bin", "/bin", dirname(npx ?? "/usr/bin/npx")])) {
    for (const name of readdirSync(place)) {
      if (!others.has(name)) symlinkSync(join(place, name), join(folder, name));
      others.add(name);
    }
  }
  return folder;
}

async function servesTheDemo(command: string, cwd: string, env: Record<string, string>) {
  const child = Bun.spawn(["sh", "-c", `exec ${command} --port 0`], {
    cwd,
    env,
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  try {
    const origin = await readyOrigin(child.stdout);
    const user = await fetch(`${origin}/users/public/42`);
    expect(await user.text()).toContain("Łukasz Nowak");
  } finally {
    // `bun run` and npx do not forward signals to the server, so this signals the process group.
    process.kill(-child.pid, "SIGTERM");
    await child.exited;
  }
}

const home = { HOME: process.env.HOME ?? "/root", TMPDIR: process.env.TMPDIR ?? "/tmp" };

describe("on a clean checkout", () => {
  test("with only Bun, the first command serves the demo and the second runs the tests", async () => {
    const env = { ...home, PATH: pathWith({ bun: process.execPath }) };
    const folder = await checkOut();
    await servesTheDemo(start, folder, env);
    const command = ["sh", "-c", `${testCommand} test/architecture.test.ts`];
    const { code, stderr } = await run(command, { cwd: folder, env });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/\b[1-9]\d* pass\n\s*0 fail/)]);
  }, 120_000);

  test("every script installs its dependencies, and scripts with flags support --help", async () => {
    const { scripts } = await Bun.file(join(root, "package.json")).json();
    for (const command of Object.values(scripts)) {
      expect(command).toMatch(/^bun install --frozen-lockfile (?:--production )?--silent && /);
    }
    const env = { ...home, PATH: pathWith({ bun: process.execPath }) };
    const folder = await checkOut();
    for (const script of ["build", "package", "bench", "fuzz"]) {
      const { code, stdout } = await run(["bun", "run", script, "--help"], { cwd: folder, env });
      expect([code, stdout]).toEqual([0, expect.stringContaining(`sage: bun run ${script} `)]);
    }
  }, 120_000);

  if (!npx && !process.env.ROADBOOK_REQUIRE_ALL)
    console.warn("npx is missing: skipping the README's commands with only Node.js");
  test.if(npx !== null || Boolean(process.env.ROADBOOK_REQUIRE_ALL))(
    "with only Node.js and npm, the same two commands work through npx",
    async () => {
      const env = { ...home, PATH: pathWith({}), npm_config_yes: "true", CI: "true" };
      expect(await run(["sh", "-c", "command -v bun"], { env })).toMatchObject({ code: 127 });
      const folder = await checkOut();
      const throughNpx = (command: string) => command.replace(/^bun/, "npx bun@1.4.5");
      expect(readme).toContain(throughNpx(start));
      const command = `${throughNpx(testCommand)} test/architecture.test.ts`;
      const { code, stderr } = await run(["sh", "-c", command], { cwd: folder, env });
      expect([code, stderr]).toEqual([0, expect.stringMatching(/\b[1-9]\d* pass\n\s*0 fail/)]);
      await servesTheDemo(throughNpx(start), folder, env);
    },
    300_000,
  );
});

test("the everyday commands work as written", async () => {
  const folder = temporaryFolder();
  const bin = await executable();
  mkdirSync(join(folder, "dist"));
  symlinkSync(bin, join(folder, "dist/roadbook"));
  const [sample = ""] = blocks("json");
  writeFileSync(join(folder, "dataset.ndjson"), sample);
  const [build = "", ownData = "", change = "", serveDemo = "", requests = ""] = everyday;
  expect(build).toBe("bun run build");

  const withServer = async (command: string, use: (origin: string) => Promise<void>) => {
    const child = Bun.spawn(["sh", "-c", `exec ${command.replace(/--port \d+/, "--port 0")}`], {
      cwd: folder,
      stdout: "pipe",
      stderr: "ignore",
    });
    await use(await readyOrigin(child.stdout));
    child.kill();
    expect(await child.exited).toBe(0);
  };

  await withServer(serveDemo, async (origin) => {
    const urls = [...requests.matchAll(/http:\/\/127\.0\.0\.1:3000(\/[^\s']*)/g)].map(
      ([, path = ""]) => path,
    );
    expect(urls).toHaveLength(4);
    for (const path of urls) {
      const body = JSON.parse(await (await fetch(origin + path)).text());
      expect(body.success).toBeTrue();
      expect(JSON.stringify(body)).toMatch(/Nowak|unlocked_at|Express/);
    }
  });

  mkdirSync(join(folder, "my-tables"));
  const rows = "id,public,name,created_at\n42,yes,Ann,2021-05-01 10:00:00\n43,no,,\n";
  writeFileSync(join(folder, "my-tables/users.csv"), rows);
  const [importTables = "", importIt = "", serveIt = ""] = ownData.split("\n");
  for (const command of [importTables, importIt]) {
    expect(await run(["sh", "-c", command], { cwd: folder })).toMatchObject({
      code: 0,
      stderr: "",
    });
  }
  writeFileSync(join(folder, "changes.ndjson"), blocks("jsonl")[0] ?? "");
  await withServer(serveIt, async (origin) => {
    const find = async () => (await fetch(`${origin}/search/users?q=lukasz`)).text();
    expect(await find()).toContain("Łukasz Nowak");
    expect((await fetch(`${origin}/users/public/43`)).status).toBe(403);
    expect(await run(["sh", "-ec", change], { cwd: folder })).toMatchObject({
      code: 0,
      stderr: "",
    });
    await until(async () => !(await find()).includes("Łukasz Nowak"));
    expect((await fetch(`${origin}/users/public/42`)).status).toBe(403);
  });
  const now = await Bun.file(join(folder, "dataset-now.ndjson")).text();
  expect(now).toContain('{"type":"user","id":42,"public":false}');
  expect(now).not.toContain("Baltic");
}, 120_000);

test("the command for a database works as written, apart from its URL", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "dist"));
  symlinkSync(await executable(), join(folder, "dist/roadbook"));
  symlinkSync(join(root, "scripts"), join(folder, "scripts"));
  const db = new Database(join(folder, "platform.sqlite"));
  db.run(`CREATE TABLE users (id, name, avatar_url, is_public, created_at);
    CREATE TABLE companies (id, name); CREATE TABLE company_members (company_id, user_id, role);
    CREATE TABLE roles (id, name, hierarchy); CREATE TABLE user_roles (user_id, role_id);
    CREATE TABLE achievements (id, name, description, icon, kind, tier, points);
    CREATE TABLE user_achievements (user_id, achievement_id, tier, unlocked_at);
    INSERT INTO users VALUES (42, 'Ann', NULL, 1, 0), (43, 'Eve', NULL, NULL, NULL);`);
  db.close();
  const [command = ""] = blocks("bash");
  const onSqlite = command.replace(/postgres:\S+/, "sqlite:platform.sqlite");
  expect(onSqlite).not.toBe(command);
  expect(await run(["bash", "-ec", onSqlite], { cwd: folder })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("imported 2 users (1 public)"),
  });
});

test("the README has at most 150 lines", () => {
  expect(readme.trim().split("\n").length).toBeLessThanOrEqual(150);
});

test("the TypeScript example runs", async () => {
  const [program = ""] = blocks("ts");
  const library = JSON.stringify(join(root, "src/roadbook.ts"));
  const file = join(temporaryFolder(), "program.ts");
  writeFileSync(file, `${program.replace('"roadbook"', library)}\nconsole.log(response.status);`);
  expect(await run([process.execPath, file])).toMatchObject({ code: 0, stdout: "403\n" });
});

test("the tables here and in scripts/deploy/README.md list exactly the flags of serve", async () => {
  const rowsIn = (text: string): string[] => text.match(/^\| `--.*$/gm) ?? [];
  const rows = rowsIn(readme);
  const others = rowsIn(await Bun.file(join(root, "scripts/deploy/README.md")).text());
  const flags = Object.values<Setting>(serveSettings).map((setting) => {
    const shown = setting.default === undefined ? "" : `\`${setting.default}\` `;
    return `| \`${setting.name}\` | ${shown}| ${setting.help} |`;
  });
  const nameIn = (row: string) => row.split("`")[1];
  const isOther = (row: string) => others.some((other) => nameIn(other) === nameIn(row));
  // If this fails, replace the table with the expected rows. Everyday flags belong in the README.
  expect(rows).toEqual(flags.filter((row) => !isOther(row)));
  expect(others).toEqual(flags.filter(isOther));
});

test("every option that scripts/package/README.md lists exists", async () => {
  const text = await Bun.file(join(root, "scripts/package/README.md")).text();
  const names = (text.match(/^\| `\w+`.*? \|/gm) ?? []).flatMap((cell) => cell.match(/\w+/g) ?? []);
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) expect(() => readOptions({ [name]: undefined })).not.toThrow();
});
