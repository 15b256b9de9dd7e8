/** Runs every command in the README and checks its tables and that of scripts/deploy. */
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { serveSettings } from "../src/settings/serve-flags.ts";
import type { Setting } from "../src/settings/setting.ts";
import {
  codeBlocks,
  executable,
  findFreePort,
  readyOrigin,
  root,
  run,
  temporaryFolder,
  until,
} from "./support.ts";

const readFile = (path: string) => Bun.file(join(root, path)).text();
const readme = await readFile("README.md");
const blocks = (language: string) => codeBlocks(readme, language);
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

/** Returns a PATH with Bun, the system's programs and those beside npx, except for some. */
function pathWithout(...missing: string[]): string {
  const folder = temporaryFolder();
  const names = new Set(missing);
  const add = (name: string, program: string) => {
    if (!names.has(name)) symlinkSync(program, join(folder, name));
    names.add(name);
  };
  add("bun", process.execPath);
  for (const place of ["/usr/bin", "/bin", dirname(npx ?? "/usr/bin/npx")]) {
    for (const name of readdirSync(place)) add(name, join(place, name));
  }
  return folder;
}

/** Runs a command that starts the server, and stops the server after `use`. */
async function withServer(
  command: string,
  options: { cwd: string; env?: Record<string, string> },
  use: (origin: string) => Promise<void>,
) {
  const onFreePort = `${command.replace(/ --port \d+/, "")} --port 0`;
  const child = Bun.spawn(["sh", "-c", `exec ${onFreePort}`], {
    ...options,
    stdout: "pipe",
    stderr: "ignore",
    detached: true,
  });
  try {
    await use(await readyOrigin(child.stdout));
  } finally {
    // `bun run` and npx do not forward signals to the server, so this signals the process group.
    process.kill(-child.pid, "SIGTERM");
    await child.exited;
  }
}

const home = { HOME: process.env.HOME ?? "/root", TMPDIR: process.env.TMPDIR ?? "/tmp" };
const hasNpx = npx !== null || Boolean(process.env.ROADBOOK_REQUIRE_ALL);
if (!hasNpx) console.warn("npx is missing: skipping the README's commands with only Node.js");

test.each([
  ["Bun", "bun", ["node", "npm", "npx"]],
  ...(hasNpx ? [["Node.js and npm", "npx bun@1.4.5", ["bun", "bunx"]] as const] : []),
])(
  "with only %s, the README's two commands serve the demo and run the tests",
  async (_, bun, missing) => {
    const env = { ...home, PATH: pathWithout(...missing), npm_config_yes: "true" };
    const find = `! command -v ${missing.join(" && ! command -v ")}`;
    expect(await run(["sh", "-c", find], { env })).toMatchObject({ code: 0 });
    const cwd = await checkOut();
    const typed = (command: string) => command.replace(/^bun/, bun);
    expect(readme).toContain(typed(start));
    await withServer(typed(start), { cwd, env }, async (origin) => {
      expect(await (await fetch(`${origin}/users/public/42`)).text()).toContain("Łukasz Nowak");
    });
    const command = `${typed(testCommand)} test/domain/time.test.ts`;
    const { code, stderr } = await run(["sh", "-c", command], { cwd, env });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/\b[1-9]\d* pass\n\s*0 fail/)]);
    // The checkout has 64,000 files, so removing it at the end of the run would take seconds.
    await rm(cwd, { recursive: true });
  },
);

test("every script installs its dependencies", async () => {
  const { scripts } = JSON.parse(await readFile("package.json"));
  for (const command of Object.values(scripts)) {
    expect(command).toMatch(/^bun install --frozen-lockfile (?:--production \S+ )?--silent && /);
  }
});

/** Creates a folder in which `dist/roadbook` and `scripts` are where the commands expect them. */
async function makeProject(): Promise<string> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "dist"));
  symlinkSync(await executable(), join(folder, "dist/roadbook"));
  symlinkSync(join(root, "scripts"), join(folder, "scripts"));
  return folder;
}

/** Sets PATH as the README says, in a folder of {@link makeProject}. */
function withPath(cwd: string) {
  const [, path = ""] = /^export PATH="(.*)"$/m.exec(readme) ?? [];
  return {
    ...process.env,
    PATH: path.replace("$PWD", cwd).replace("$PATH", process.env.PATH ?? ""),
  };
}

test("the everyday commands work as written", async () => {
  const cwd = await makeProject();
  const env = withPath(cwd);
  const succeed = async (command: string) =>
    expect(await run(["sh", "-ec", command], { cwd, env })).toMatchObject({ code: 0, stderr: "" });
  const [build, serveSheet = "", ownData = "", change = "", serveDemo = "", requests = ""] =
    everyday;
  expect(build).toBe("bun run build");

  await withServer(serveDemo, { cwd, env }, async (origin) => {
    const paths = [...requests.matchAll(/http:\/\/127\.0\.0\.1:3000(\/[^\s']*)/g)];
    expect(paths).toHaveLength(4);
    for (const [, path] of paths) {
      const text = await (await fetch(`${origin}${path}`)).text();
      expect(text).toStartWith('{"success":true');
      expect(text).toMatch(/Nowak|unlocked_at|Express/);
    }
  });

  writeFileSync(join(cwd, "members.csv"), blocks("csv")[0] ?? "");
  await withServer(serveSheet, { cwd, env }, async (origin) => {
    const { user } = await (await fetch(`${origin}/users/public/2`)).json();
    expect([user.name, user.created_at, user.company.name]).toEqual([
      "Jan Kowalski",
      "2021-05-08T00:00:00Z",
      "Baltic Express",
    ]);
    expect((await fetch(`${origin}/users/public/5`)).status).toBe(403);
  });

  writeFileSync(join(cwd, "dataset.ndjson"), blocks("json")[0] ?? "");
  writeFileSync(join(cwd, "changes.ndjson"), blocks("jsonl")[0] ?? "");
  const [importDataset = "", serve = ""] = ownData.split("\n");
  await succeed(importDataset);
  await withServer(serve, { cwd, env }, async (origin) => {
    const find = async () => (await fetch(`${origin}/search/users?q=lukasz`)).text();
    expect(await find()).toContain("Łukasz Nowak");
    expect((await fetch(`${origin}/users/public/43`)).status).toBe(403);
    await succeed(change);
    await until(async () => !(await find()).includes("Łukasz Nowak"));
    expect((await fetch(`${origin}/users/public/42`)).status).toBe(403);
  });
  const now = await Bun.file(join(cwd, "dataset-now.ndjson")).text();
  expect(now).toContain('{"type":"user","id":42,"public":false}');
  expect(now).not.toContain("Baltic");
});

test("with the commands for a developer, requests fail on purpose", async () => {
  const port = String(findFreePort());
  const [servers = [], calls = []] = blocks("text")
    .slice(0, 2)
    .map((text) => text.replaceAll("9090", port).split("\n"));
  const cwd = await makeProject();
  const results: unknown[] = [];
  for (const [at, server] of servers.entries()) {
    await withServer(server, { cwd, env: withPath(cwd) }, async (origin) => {
      const path = at === 1 ? "users/public/42" : "search/users?q=no";
      const closed = () => ({ status: "closed" });
      const ask = async () => (await fetch(`${origin}/${path}`).catch(closed)).status;
      for (const call of at === 2 ? calls : []) {
        const stdout = call.endsWith("/requests") ? "[]" : "";
        expect(await run(["sh", "-c", `${call} -s`])).toEqual({ code: 0, stdout, stderr: "" });
      }
      results.push([await ask(), await ask(), await ask()]);
    });
  }
  expect(results).toEqual([expect.anything(), ["closed", 200, 200], [503, 503, 200]]);
});

test("the command for a database runs as written, apart from its URL", async () => {
  const command = blocks("bash")[0]?.replace(/postgres:\S+/, "sqlite:platform") ?? "";
  const cwd = await makeProject();
  const { stderr } = await run(["bash", "-ec", command], { cwd, env: withPath(cwd) });
  // The command has read the queries, but there is no database.
  expect(stderr).toStartWith("roadbook: cannot connect to platform: ");
});

test("the TypeScript example runs", async () => {
  const [program = ""] = blocks("ts");
  const library = JSON.stringify(join(root, "src/roadbook.ts"));
  const file = join(temporaryFolder(), "program.ts");
  writeFileSync(file, `${program.replace('"roadbook"', library)}\nconsole.log(response.status);`);
  expect(await run([process.execPath, file])).toMatchObject({ code: 0, stdout: "403\n" });
});

test("the most common flags are flags of serve", () => {
  const [, list = ""] = /The most common are ([^.]+)\./.exec(readme) ?? [];
  const common = list.match(/--[a-z-]+/g) ?? [];
  const flags = Object.values<Setting>(serveSettings).map(({ name }) => name);
  expect(common.length).toBeGreaterThan(5);
  expect(flags).toEqual(expect.arrayContaining(common));
});
