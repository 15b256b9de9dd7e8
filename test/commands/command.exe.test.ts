/** The executable, alone in its folder: one start per command, its output and its signals. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmodSync, cpSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import type { LoadedCommand } from "../../src/commands/command.ts";
import { loadCommands } from "../../src/commands/command-line.ts";
import { formatCommandHelp, formatProgramHelp } from "../../src/commands/help.ts";
import { textOf, user } from "../datasets.ts";
import {
  executable,
  openExecutable,
  readyOrigin,
  roadbook,
  run,
  temporaryFolder,
  until,
} from "../support.ts";

const commands = await loadCommands();

/** Starts the executable with this environment only. */
async function start(args: string[], env: Record<string, string> = {}, cwd = temporaryFolder()) {
  const options = { cwd, env, stdout: "pipe", stderr: "pipe" } as const;
  const child = Bun.spawn([await executable(), ...args], options);
  return { child, origin: await readyOrigin(child.stdout) };
}

test("the executable serves the demo in an empty folder and environment, and leaves no files", async () => {
  const folder = temporaryFolder();
  // Bun itself would read these files.
  writeFileSync(join(folder, ".env"), "ROADBOOK_PORT=1\n");
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./nothing.ts"]\n');
  const { child, origin } = await start(["--port", "0"], {}, folder);
  expect(await (await fetch(`${origin}/users/public/42`)).text()).toContain("Łukasz Nowak");
  const { headers } = await fetch(`${origin}/docs/scalar.js`);
  expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(readdirSync(folder).sort()).toEqual([".env", "bunfig.toml"]);
});

test("flags override their variables, the last of a flag wins, and lists add up", async () => {
  const words = "--port 1 --host 127.0.0.1 --port 0 --search-limit 7";
  const proxies = "--trusted-proxy 127.0.0.1 --trusted-proxy ::1";
  const { child, origin } = await start(`${words} ${proxies}`.split(" "), {
    ROADBOOK_PORT: "1",
    ROADBOOK_HOST: "",
    ROADBOOK_PROT: "2",
    ROADBOOK_ACCESS_LOG: "true",
    ROADBOOK_SEARCH_WINDOW: "90s",
    ROADBOOK_TRUSTED_PROXY: "10.0.0.0/8",
  });
  const headers = { "x-forwarded-for": "192.0.2.7, 10.0.0.1" };
  const response = await fetch(`${origin}/search/users?q=nowak`, { headers });
  expect(response.headers.get("ratelimit-policy")).toBe('"search";q=7;w=90');
  child.kill("SIGINT");
  const log = await new Response(child.stderr).text();
  expect(await child.exited).toBe(0);
  expect(log).toContain('"client":"10.0.0.1"');
  expect(log.match(/"variable":"\w+"/g)).toEqual(['"variable":"ROADBOOK_PROT"']);
});

// A usage error is one line, -- ends the flags, and help needs no valid variables.
test.each<[string[], number, string | RegExp]>([
  [["a\nb"], 2, 'roadbook: unknown command "a b"; see roadbook --help\n'],
  [["check", "--", "--port"], 1, /^roadbook: --port cannot be read: .*\n$/],
  [["-h"], 0, `${formatProgramHelp(commands)}\n`],
  [["--help"], 0, `${formatProgramHelp(commands)}\n`],
  [["help"], 0, `${formatProgramHelp(commands)}\n`],
  [["serve", "--help"], 0, `${formatCommandHelp("serve", commands.serve as LoadedCommand)}\n`],
  [["help", "check"], 0, `${formatCommandHelp("check", commands.check as LoadedCommand)}\n`],
  [["import", "help"], 0, `${formatCommandHelp("import", commands.import as LoadedCommand)}\n`],
  [["serve", "help"], 0, `${formatCommandHelp("serve", commands.serve as LoadedCommand)}\n`],
  [["--version"], 0, /^roadbook \d+\.\d+\.\d+(-dev)?\n$/],
  [["version"], 0, /^roadbook \d+\.\d+\.\d+(-dev)?\n$/],
  [["-V"], 0, /^roadbook \d+\.\d+\.\d+(-dev)?\n$/],
])("%j exits with %i", async (args, code, text) => {
  const env = { ROADBOOK_PORT: "", ROADBOOK_RATE_LIMIT_STORE: "redis://:x@h" };
  const expected = typeof text === "string" ? text : expect.stringMatching(text);
  const stdout = code === 0 ? expected : "";
  const stderr = code === 0 ? "" : expected;
  expect(await roadbook(args, { env })).toEqual({ code, stdout, stderr });
});

test("the sample tables give the same snapshot as the sample dataset, which the executable serves", async () => {
  const { cwd, sh } = await openShell({});
  const succeed = async (line: string) => {
    const { code, stdout, stderr } = await sh(["bash", "-c", `set -o pipefail; ${line}`]);
    expect([line, code, stderr]).toEqual([line, 0, ""]);
    return stdout;
  };
  await succeed("roadbook seed --users 100 --tables my-tables");
  const files = "achievements companies roles user_achievements user_roles users".split(" ");
  expect(readdirSync(join(cwd, "my-tables")).sort()).toEqual(files.map((name) => `${name}.csv`));
  const summary = await succeed("roadbook import my-tables --to a.snapshot");
  // Only in a terminal is there a line about what comes next.
  expect(summary).toBe(
    "imported 100 users (92 public), 4 companies, 60 achievements, 8 roles to a.snapshot\n",
  );
  await succeed("roadbook seed --users 100 --to - | roadbook import - --to b.snapshot");
  const exported = await succeed("roadbook export a.snapshot --to -");
  expect(exported).toBe(await succeed("roadbook export b.snapshot"));
  expect(exported.split("\n").length).toBeGreaterThan(170);
  for (const words of [["a.snapshot"], ["serve", "a.snapshot"]]) {
    const { child, origin } = await start([...words, "--port", "0"], {}, cwd);
    const { snapshot } = await (await fetch(`${origin}/health`)).json();
    expect(snapshot.counts.users).toBe(100);
    child.kill();
    await child.exited;
  }
});

test("seed writes no table over a file with data, unless --force is given", async () => {
  const own = "id,public,name,created_at\n1,1,Ann,2021-05-01\n";
  const { cwd, sh } = await openShell({ "mine/users.csv": own });
  const seed = "roadbook seed --users 1 --tables mine".split(" ");
  const refusal =
    "roadbook: mine/users.csv exists; choose another folder, or overwrite it with --force\n";
  expect(await sh(seed)).toEqual({ code: 1, stdout: "", stderr: refusal });
  expect(readdirSync(join(cwd, "mine"))).toEqual(["users.csv"]);
  expect(await Bun.file(join(cwd, "mine/users.csv")).text()).toBe(own);
  expect(await sh([...seed, "--force"])).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(await Bun.file(join(cwd, "mine/users.csv")).text()).not.toContain("Ann");
});

/** Creates a folder with the executable and other files, and returns a shell that runs there. */
async function openShell(files: Record<string, string>) {
  const cwd = temporaryFolder();
  for (const [path, text] of Object.entries(files)) await Bun.write(join(cwd, path), text);
  symlinkSync(await executable(), join(cwd, "roadbook"));
  const env = { HOME: cwd, PATH: `${cwd}:${process.env.PATH}` };
  const sh = (words: string[], more = {}) => run(words, { cwd, env: { ...env, ...more } });
  return { cwd, env, sh };
}

/** The progress of a command that takes longer than usual. */
const PROGRESS = /^roadbook: (?:reading|indexing).*\n/gm;

test("the examples in the help of each command work as written", async () => {
  const created = "2021-05-01 10:00:00";
  const { cwd, env, sh } = await openShell({
    "dataset.ndjson": textOf([
      ...[42, 43, 44].map((id) => user(id, "Ann")),
      { type: "end", lines: 3 },
    ]),
    "changes.ndjson": textOf([user(43, "Bob")]),
    "members.csv": `id,public,name,created_at\n42,1,Ann,${created}\n`,
    "my-queries/users.sql": `SELECT 42 AS id, 1 AS public, 'Ann' AS name, '${created}' AS created_at`,
    // Folders that exist where a shell is used.
    ".local/share/bash-completion/completions/x": "",
    ".zfunc/x": "",
    ".config/fish/completions/x": "",
  });
  new Database(join(cwd, "platform.db")).run("CREATE TABLE users (id)");
  const examples = Object.entries(commands).map(([name, command]) => {
    const [, text = ""] = formatCommandHelp(name, command).split("Examples:\n");
    return [name, text.trim().split(/\n */)] as const;
  });
  const { serve = [], health = [], ...others } = Object.fromEntries(examples);
  for (const line of Object.values(others).flat()) {
    const { code, stderr } = await sh(["bash", "-c", `set -o pipefail; ${line}`]);
    const errors = stderr.replace(PROGRESS, "");
    expect([line, code, errors]).toEqual([line, 0, ""]);
  }
  for (const line of serve) {
    const command = ["bash", "-c", `exec ${line} --port 0 --admin-port 0`];
    const child = Bun.spawn(command, { cwd, env, stdout: "pipe", stderr: "ignore" });
    const origin = await readyOrigin(child.stdout);
    const { port } = new URL(origin);
    for (const given of health) {
      const asked = given.replace("8080", port).replace("https://api.example.org", origin);
      const outcome = await sh(["bash", "-c", asked], { ROADBOOK_PORT: port });
      expect(outcome).toMatchObject({ code: 0, stderr: "" });
    }
    child.kill();
    expect(await child.exited).toBe(0);
  }
});

// Where there is no word, bash and zsh complete file names themselves, which is shown here as a *.
const completed = {
  im: "import",
  "--access": "--access-log",
  "--log-level w": "warn",
  "help ch": "check",
  "import --que": "--queries",
  "import da": "*",
  "import --to ": "*",
  "completion z": "zsh",
};
test.each([
  [
    "bash",
    `. ./script; for line in "$@"; do COMP_LINE="roadbook $line" COMP_POINT=99; _roadbook roadbook
    echo "\${COMPREPLY:-*}"; done`,
  ],
  [
    "zsh",
    `compadd() { shift; echo $*; }; _files() { echo '*'; }; complete() { . ./script; }
    for line in "$@"; do words=(roadbook "\${(@s: :)line}"); CURRENT=$#words; complete; done`,
  ],
  [
    "fish",
    `. ./script; for line in $argv[2..]; set found (complete -C "roadbook $line")
    test "$found[1]" = dataset; and echo '*'; or echo $found[1]; end`,
  ],
])("%s completes commands, flags and choices", async (shell, script) => {
  if (!Bun.which(shell) && !process.env.ROADBOOK_REQUIRE_ALL) return console.warn(`no ${shell}`);
  const { stdout } = await roadbook(["completion", shell]);
  const { sh } = await openShell({ script: stdout, dataset: "" });
  const outcome = await sh([shell, "-c", script, shell, ...Object.keys(completed)]);
  const words = Object.values(completed).join("\n");
  expect(outcome).toMatchObject({ stdout: `${words}\n`, stderr: "" });
});

// In some containers, any user may listen on any port.
const first = Bun.spawnSync(["cat", "/proc/sys/net/ipv4/ip_unprivileged_port_start"]).stdout;
test.if(Number(first) === 1024)("a port below 1024 needs root", async () => {
  const program = join(temporaryFolder(), "roadbook");
  cpSync(await executable(), program);
  chmodSync(dirname(program), 0o755);
  const nobody = ["setpriv", "--reuid=65534", "--clear-groups"];
  const as = process.getuid?.() === 0 ? nobody : [];
  const options = { cwd: dirname(program), env: {} };
  const { code, stderr } = await run([...as, "./roadbook", "--port", "80"], options);
  const line = /^roadbook: port 80 on 127\.0\.0\.1 needs root .*; choose another with --port\n$/;
  expect([code, stderr]).toEqual([1, expect.stringMatching(line)]);
});

test.each(["schema", "seed --users 5000"])(
  "the output of %s may be a closed pipe, but not a full disk",
  async (command) => {
    const env = { roadbook: await executable() };
    const script = `$roadbook ${command} >/dev/full; echo $?; $roadbook ${command} | true; echo \${PIPESTATUS[0]}`;
    const stderr = "roadbook: cannot write to standard output: no space left on device\n";
    expect(await run(["bash", "-c", script], { env })).toMatchObject({ stdout: "1\n0\n", stderr });
  },
);

test("health accepts the variables of serve, and openapi prints the server's document", async () => {
  const target = await openExecutable([]);
  const env = { ROADBOOK_PORT: new URL(target.origin).port };
  const { code, stdout } = await roadbook(["health"], { env });
  expect([code, JSON.parse(stdout).success]).toEqual([0, true]);
  const served = await (await target.fetch("/docs/json")).json();
  const printed = await roadbook(["openapi", "--public-url", target.origin]);
  expect([printed.code, JSON.parse(printed.stdout)]).toEqual([0, served]);
  await target.close();
});

test("a signal right after the ready line is not lost", async () => {
  for (let times = 0; times < 3; times++) {
    const { child } = await start(["--port", "0"]);
    child.kill("SIGHUP");
    child.kill("SIGTERM");
    expect([await child.exited, child.signalCode]).toEqual([0, null]);
  }
});

test.each([
  ["the shutdown timeout", "300ms", 1],
  ["a second signal", "1h", 2],
])("%s cuts off responses that no client reads", async (_, timeout, signals) => {
  const { child, origin } = await start(["--port", "0", "--shutdown-timeout", timeout]);
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.pause();
  // Requests more data than the system can buffer, and never reads the responses.
  socket.write("GET /docs/scalar.js HTTP/1.1\r\nHost: a.example\r\n\r\n".repeat(20));
  const request = () => fetch(`${origin}/health`).catch(() => undefined);
  expect((await request())?.status).toBe(200);
  for (let at = 0; at < signals; at++) {
    child.kill("SIGTERM");
    await until(async () => !(await request()));
  }
  expect(await child.exited).toBe(0);
  socket.destroy();
});

test("a name that is not UTF-8 is refused, because the file would get another one", async () => {
  const folder = temporaryFolder();
  for (const words of ["seed --users 1", "import -", "apply -", "hide 1"]) {
    const line = `${await executable()} ${words} --to "$(printf '%s/\\377' ${folder})"`;
    const { code, stderr } = await run(["sh", "-c", line]);
    expect(code).toBe(2);
    expect(stderr).toContain("--to must be UTF-8; choose another name for the file");
  }
  expect(readdirSync(folder)).toEqual([]);
});
