/** The executable, alone in its folder: one start per command, its output and its signals. */
import { describe, expect, test } from "bun:test";
import { chmodSync, cpSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { commands } from "../../src/commands/commands.ts";
import { formatCommandHelp, formatProgramHelp } from "../../src/commands/help.ts";
import {
  community,
  executable,
  importByExecutable,
  openExecutable,
  readyOrigin,
  roadbook,
  run,
  temporaryFolder,
  until,
} from "../support.ts";

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
  expect((await fetch(`${origin}/docs/scalar.js`)).headers.get("content-type")).toStartWith(
    "text/javascript",
  );
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(readdirSync(folder).sort()).toEqual([".env", "bunfig.toml"]);
});

describe("flags, environment variables and defaults", () => {
  const env = {
    ROADBOOK_PORT: "1",
    ROADBOOK_HOST: "",
    ROADBOOK_PROT: "2",
    ROADBOOK_ACCESS_LOG: "true",
    ROADBOOK_SEARCH_WINDOW: "90s",
    ROADBOOK_TRUSTED_PROXY: "10.0.0.0/8, 127.0.0.1",
  };

  /** Searches once, and returns the response's policy and the log. */
  async function serve(args: string[]) {
    const snapshot = await importByExecutable(community);
    const words = ["--port", "1", "--host", "127.0.0.1", "--port", "0", "--search-limit", "7"];
    const { child, origin } = await start([...words, ...args], {
      ...env,
      ROADBOOK_SNAPSHOT: snapshot,
    });
    const headers = { "x-forwarded-for": "192.0.2.7" };
    const response = await fetch(`${origin}/search/users?q=nowak`, { headers });
    child.kill("SIGINT");
    const log = await new Response(child.stderr).text();
    expect(await child.exited).toBe(0);
    return { log, policy: response.headers.get("ratelimit-policy") };
  }

  test("a flag overrides its variable, even an invalid one, and the last flag wins", async () => {
    const { log, policy } = await serve([]);
    expect(policy).toBe('"search";q=7;w=90');
    expect(log).toContain('"msg":"request"');
    expect(log).toContain('"client":"192.0.2.7"');
    expect(log.match(/"variable":"\w+"/g)).toEqual(['"variable":"ROADBOOK_PROT"']);
  });

  test("repeated flags add up to a list, which replaces the variable's list", async () => {
    const { log } = await serve(["--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "::1"]);
    expect(log).toContain('"client":"127.0.0.1"');
  });
});

test("a usage error is one line, and the exit code is 2", async () => {
  const stderr = 'roadbook: unknown command "a b"; see roadbook --help\n';
  expect(await roadbook(["a\nb"])).toEqual({ code: 2, stdout: "", stderr });
});

test("-- ends the flags", async () => {
  const { code, stderr } = await roadbook(["check", "--", "--port"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("--port cannot be read")]);
});

const program = formatProgramHelp();
test.each<[string[], string]>([
  [["--help"], program],
  [["-h"], program],
  [["help"], program],
  [["help", "help"], program],
  ...Object.entries(commands).map(([name, command], at): [string[], string] => {
    return [at % 2 === 0 ? ["help", name] : [name, "--help"], formatCommandHelp(name, command)];
  }),
])("%j prints the help, whatever the variables", async (args, stdout) => {
  const env = { ROADBOOK_PORT: "", ROADBOOK_TO: "", ROADBOOK_RATE_LIMIT_STORE: "redis://:x@h" };
  expect(await roadbook(args, { env })).toEqual({ code: 0, stdout, stderr: "" });
});

test.each(["--version", "-V"])("%s prints the version", async (flag) => {
  const { code, stdout } = await roadbook([flag]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^roadbook \d+\.\d+\.\d+\n$/)]);
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

describe("standard output", async () => {
  const commands = ["--version", "schema", "seed --users 5000", "export s"];
  const folder = temporaryFolder();
  const shell = async (script: string) =>
    run(["bash", "-c", script], { cwd: folder, env: { roadbook: await executable() } });

  test.each(commands)("%s to a full disk prints one line and exits with 1", async (command) => {
    await shell(`$roadbook import ${community} --to s`);
    expect(await shell(`$roadbook ${command} >/dev/full`)).toEqual({
      code: 1,
      stdout: "",
      stderr: "roadbook: cannot write to standard output: no space left on device\n",
    });
  });

  test.each([...commands, `import ${community} --to t`])(
    "%s to a closed pipe is not an error",
    async (command) => {
      const script = `$roadbook ${command} | true; echo \${PIPESTATUS[0]}`;
      expect(await shell(script)).toEqual({ code: 0, stdout: "0\n", stderr: "" });
    },
  );
});

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
  for (let times = 0; times < 5; times++) {
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
