/** The log of the executable, as operators and log collectors read it. */
import { describe, expect, test } from "bun:test";
import { renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeSnapshot, runSql } from "../datasets.ts";
import {
  executable,
  openLogged,
  readyOrigin,
  root,
  run,
  temporaryFolder,
  until,
} from "../support.ts";

interface Line {
  level: string;
  msg: string;
  [field: string]: unknown;
}

const linesIn = (text: string): Line[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

async function open(words: string[] = [], env = {}) {
  const target = await openLogged(words, env);
  const lines = () => linesIn(target.log());
  const find = (isWanted: (line: Line) => boolean) => until(() => lines().find(isWanted));
  return { ...target, lines, find };
}

describe("without a terminal, each event is one line of JSON", () => {
  test("start, ready and shutdown, but not the requests", async () => {
    const target = await open();
    await target.fetch("/users/public/42");
    await target.close();
    const lines = target.lines();
    expect(lines.map(({ msg }) => msg)).toEqual(["ready", "stopping", "stopped"]);
    const counts = { users: 3000 };
    const url = target.origin;
    expect(lines[0]).toMatchObject({ snapshot: "the bundled data", counts, url });
    expect(lines[1]).toMatchObject({ signal: "SIGTERM" });
    for (const { level, time } of lines) {
      expect([level, new Date(String(time)).toISOString()]).toEqual(["info", String(time)]);
    }
  });

  test("a new snapshot and a rejected snapshot", async () => {
    const snapshot = await makeSnapshot();
    const target = await open(["--snapshot", snapshot]);
    renameSync(await makeSnapshot(), snapshot);
    const swap = await target.find(({ msg }) => msg === "serving a new snapshot");
    expect(swap).toMatchObject({ level: "info", counts: { users: 3, public_users: 2 } });
    writeFileSync(`${snapshot}.new`, "");
    renameSync(`${snapshot}.new`, snapshot);
    const refusal = await target.find(({ level }) => level === "error");
    expect(refusal.msg).toEndWith("is empty; serving the old snapshot");
    await target.close();
  });

  test("a bug with its request id, and nothing less with --log-level error", async () => {
    const snapshot = await makeSnapshot();
    await runSql(snapshot, "UPDATE user SET achievements = '['");
    const target = await open(["--snapshot", snapshot, "--log-level", "error"]);
    const { headers } = await target.fetch("/users/42/achievements");
    expect(await target.find(({ msg }) => msg === "bug")).toMatchObject({
      level: "error",
      requestId: headers.get("x-request-id"),
      err: { message: expect.any(String), stack: expect.any(String) },
    });
    await target.close();
    expect(target.lines()).toHaveLength(1);
  });
});

test("an untrusted proxy is reported once, unless it is trusted or nothing is counted", async () => {
  const headers = { "x-forwarded-for": "192.0.2.1" };
  for (const [flags, warnings] of [
    [[], 1],
    // Through a proxy, the kiosk's own screen is counted too.
    [["--kiosk"], 1],
    [["--trusted-proxy", "127.0.0.1"], 0],
    [["--search-limit", "0"], 0],
  ] as const) {
    const target = await open([...flags]);
    await target.fetch("/users/public/42");
    for (let times = 0; times < 2; times++) await target.fetch("/users/public/42", { headers });
    await target.close();
    expect(target.lines().filter(({ msg }) => msg.includes("--trusted-proxy"))).toHaveLength(
      warnings,
    );
    expect(target.log()).not.toContain("192.0.2.1");
  }
});

test("a header that names another client than the one that is counted is reported once", async () => {
  for (const [header, trusted, warnings] of [
    [{ "cf-connecting-ip": "198.51.100.7" }, true, 1],
    [{ "x-real-ip": "198.51.100.7" }, true, 1],
    [{ "cf-connecting-ip": "192.0.2.1" }, true, 0],
    [{ "cf-connecting-ip": "not an address" }, true, 0],
    // Another warning has told the operator.
    [{ "cf-connecting-ip": "198.51.100.7" }, false, 0],
  ] as const) {
    const target = await open(trusted ? ["--trusted-proxy", "127.0.0.1"] : []);
    const headers = { "x-forwarded-for": "192.0.2.1", ...header };
    for (let times = 0; times < 2; times++) await target.fetch("/users/public/42", { headers });
    await target.close();
    const hidden = target.lines().filter(({ msg }) => msg.includes("names another client than"));
    expect([header, hidden.length]).toEqual([header, warnings]);
    expect(target.log()).not.toContain("198.51.100.7");
  }
});

test("a shared cache without a public URL is reported", async () => {
  const flags = ["--cache-max-age", "5m", "--trusted-proxy", "127.0.0.1"];
  for (const [more, warnings] of [
    [[], 1],
    [["--public-url", "https://api.example"], 0],
  ] as const) {
    const target = await open([...flags, ...more]);
    await target.close();
    const found = target.lines().filter(({ msg }) => msg.startsWith("--cache-max-age without"));
    expect(found).toHaveLength(warnings);
  }
});

test("faults in the variable add up, and a warning lists them", async () => {
  const env = { ROADBOOK_FAULT: "profile:status=503; achievements:close" };
  const target = await open(["--fault-seed", "7"], env);
  // Uses the global `fetch`, because `target.fetch` throws on undocumented responses.
  expect((await fetch(`${target.origin}/users/public/42`)).status).toBe(503);
  await expect(target.fetch("/users/42/achievements")).rejects.toThrow();
  expect((await target.fetch("/search/users?q=nowak")).status).toBe(200);
  // A connection closed by a fault prints nothing besides the log.
  await target.close();
  const warnings = target.lines().filter(({ msg }) => msg.startsWith("FAULT INJECTION IS ON"));
  const fault = "profile:status=503;achievements:close";
  expect(warnings).toMatchObject([{ level: "warn", fault, faultSeed: 7 }]);
});

test("--access-log logs facts of each request, but never a query or a name", async () => {
  const flags = ["--access-log", "--log-level", "trace", "--trusted-proxy", "127.0.0.1"];
  const target = await open([...flags]);
  const id = (await target.fetch("/users/public/42")).headers.get("x-request-id");
  await target.fetch("/api/users/public/42?name=Zyxwv", { method: "HEAD" });
  await target.fetch("/users/Zyxwv/achievements");
  const headers = { "x-forwarded-for": "2001:db8:1:2:3:4:5:6" };
  await target.fetch("/search/users?q=Zyxwv", { headers });
  await target.fetch("/Zyxwv", { method: "POST" });
  await target.fetch("/?q=Zyxwv");
  await target.close();
  const requests = target.lines().filter(({ msg }) => msg === "request");
  expect(
    requests.map(({ method, route, status, client }) => [method, route, status, client]),
  ).toEqual([
    ["GET", "/users/public/:userId", 200, "127.0.0.1"],
    ["HEAD", "/users/public/:userId", 200, "127.0.0.1"],
    ["GET", "/users/:userId/achievements", 400, "127.0.0.1"],
    // The client is the network that the search limit counts.
    ["GET", "/search/users", 200, "2001:db8:1:2::/64"],
    ["POST", null, 404, "127.0.0.1"],
    ["GET", "/", 200, "127.0.0.1"],
  ]);
  expect(requests[0]?.requestId).toBe(id);
  for (const { durationMs } of requests) expect(Number(durationMs)).toBeGreaterThan(0);
  expect(target.log()).not.toMatch(/Zyxwv|Nowak/);
});

test("in a terminal, the log is readable, and says once what to try", async () => {
  const flags = "--port 0 --admin-port 0 --access-log --fault none";
  const script = `
    script -qefc '${await executable()} ${flags} & echo $! > pid; wait $!' /dev/null > log &
    while ! grep -qs lifts log; do sleep 0.05; done
    curl -s "$(grep -o 'http://[0-9.:]*/users/public/[0-9]*' log)" > body
    kill -TERM "$(cat pid)"
    wait`;
  const folder = temporaryFolder();
  const env = { PATH: process.env.PATH ?? "" };
  expect((await run(["bash", "-c", script], { cwd: folder, env })).stderr).toBe("");
  expect(await Bun.file(`${folder}/body`).text()).toStartWith('{"success":true');
  const text = (await Bun.file(`${folder}/log`).text())
    .replaceAll("\r", "")
    .replace(/\d\d:\d\d:\d\d/g, "TIME")
    .replace(/:\d{4,5}\b/g, ":PORT");
  const listening = "roadbook listening on http://127.0.0.1:PORT\n";
  expect(text).toContain(listening);
  const lines = text.replace(listening, "").split("\n");
  const ready =
    /^TIME ready {2}version=\S+ snapshot="the bundled data" builtAt=\S+ .* users=3,000 /;
  expect(lines).toEqual([
    "TIME WARN FAULT INJECTION IS ON: this server is for tests only  fault=none faultSeed=1",
    expect.stringMatching(ready),
    "  page   http://127.0.0.1:PORT/",
    expect.stringMatching("  API    http://127.0.0.1:PORT/users/public/"),
    "  docs   http://127.0.0.1:PORT/docs",
    "  admin  http://127.0.0.1:PORT/metrics",
    "  30 searches in 1h per client; --search-limit 0 lifts this",
    expect.stringMatching(
      /^TIME request {2}requestId=\S+ method=GET route=\/users\/public\/:userId /,
    ),
    "TIME stopping  signal=SIGTERM",
    "TIME stopped",
    "",
  ]);
});

test("in the journal, each line begins with its priority", async () => {
  const log = join(temporaryFolder(), "log");
  writeFileSync(log, "");
  const { dev, ino } = statSync(log);
  for (const [stream, prefixes] of [
    [`${dev}:${ino}`, ["<4>{", "<6>{", "<6>{", "<6>{"]],
    ["8:1", ["{", "{", "{", "{"]],
  ] as const) {
    writeFileSync(log, "");
    const command = `exec ${await executable()} --port 0 --fault none 2>> ${log}`;
    const env = { JOURNAL_STREAM: stream };
    const child = Bun.spawn(["sh", "-c", command], { env, stdout: "pipe" });
    await readyOrigin(child.stdout);
    child.kill();
    await child.exited;
    expect((await Bun.file(log).text()).match(/^.*?\{/gm)).toEqual([...prefixes]);
  }
});

describe.skipIf(process.platform !== "linux")("a log that cannot be written", () => {
  /** Starts the executable with standard error redirected by the shell. */
  async function openRedirected(redirection: string) {
    const cwd = temporaryFolder();
    await run(["mkfifo", `${cwd}/log`]);
    const command = `exec ${await executable()} --port 0 --access-log ${redirection}`;
    const child = Bun.spawn(["sh", "-c", command], { cwd, stdout: "pipe" });
    const origin = await readyOrigin(child.stdout);
    const ask = async () => expect((await fetch(`${origin}/users/public/42`)).status).toBe(200);
    return { child, cwd, ask };
  }
  test("on a full disk stops neither the server nor its shutdown", async () => {
    const { child, ask } = await openRedirected("2> /dev/full");
    for (let times = 0; times < 3; times++) await ask();
    child.kill();
    expect(await child.exited).toBe(0);
  });

  test("because standard error is closed stops nothing", async () => {
    // If a program is started with standard error closed, Bun opens /dev/null there.
    const program = `
      import { closeSync } from "node:fs";
      import { createLog } from "./src/server/log.ts";
      closeSync(2);
      {
        await using log = createLog("info");
        log.info("lost");
      }
      console.log("alive");`;
    const outcome = await run([process.execPath, "-e", program], { cwd: root });
    expect(outcome).toMatchObject({ code: 0, stdout: "alive\n" });
  });

  test("because its reader has stalled does not delay responses, and the loss is reported", async () => {
    // Opening a FIFO for reading and writing does not block, and adds a reader that never reads.
    const { child, cwd, ask } = await openRedirected("2<> log");
    // Enough lines to fill the pipe and the buffer.
    const count = 9_000;
    for (let asked = 0; asked < count; asked += 50) {
      await Promise.all(Array.from({ length: 50 }, ask));
    }
    const reader = Bun.spawn(["cat", "log"], { cwd, stdout: "pipe" });
    let text = "";
    let isStopping = false;
    for await (const chunk of reader.stdout) {
      text += Buffer.from(chunk).toString();
      if (!isStopping && text.includes("log lines were dropped")) {
        isStopping = true;
        child.kill();
      }
      if (text.includes('"stopped"')) break;
    }
    reader.kill();
    expect(await child.exited).toBe(0);
    const lines = linesIn(text);
    const written = lines.filter(({ msg }) => msg === "request").length;
    const reports = lines.filter(({ dropped }) => dropped !== undefined);
    const dropped = reports.reduce((sum, line) => sum + Number(line.dropped), 0);
    const msg = `${reports[0]?.dropped} log lines were dropped`;
    expect(reports[0]).toMatchObject({ level: "warn", msg });
    expect([dropped > 0, written + dropped]).toEqual([true, count]);
    expect(lines.slice(-2).map(({ msg }) => msg)).toEqual(["stopping", "stopped"]);
  });
});

test.skipIf(process.platform !== "linux")(
  "if the ready line cannot be written, the server exits with 1 and a clear line",
  async () => {
    const command = `exec ${await executable()} --port 0 --log-level silent > /dev/full`;
    const stderr = "roadbook: cannot write to standard output: no space left on device\n";
    expect(await run(["sh", "-c", command])).toMatchObject({ code: 1, stderr });
  },
);
