/** The admin port of the executable: its address, and what it reports of swaps and the shutdown. */
import { expect, test } from "bun:test";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import dashboard from "../../scripts/deploy/grafana.json" with { type: "json" };
import { makeSnapshot } from "../datasets.ts";
import { closed, converse, dial } from "../sockets.ts";
import {
  findFreePort,
  openLogged,
  root,
  run,
  temporaryFolder,
  tryProgram,
  until,
} from "../support.ts";

const queries = dashboard.panels.flatMap(({ targets }) =>
  targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "5m")),
);
const guide = readFileSync(join(root, "scripts/deploy/README.md"), "utf8");

/** Starts the executable with an admin port, whose origin is read from the log. */
async function openWithAdmin(...words: string[]) {
  const target = await openLogged(["--admin-port", "0", ...words]);
  const admin = await until(() => /"adminUrl":"([^"]+)/.exec(target.log())?.[1]);
  return { ...target, admin };
}

test("metrics count the requests, and swapped and refused replacements", async () => {
  const snapshot = await makeSnapshot();
  const target = await openWithAdmin("--snapshot", snapshot);
  expect(target.admin).toStartWith("http://127.0.0.1:");
  const metrics = async () => (await fetch(`${target.admin}/metrics`)).text();
  const replaced = (outcome: string) =>
    until(async () =>
      (await metrics()).includes(`snapshot_replacements_total{outcome="${outcome}"} 1\n`),
    );
  await target.fetch("/users/public/42");
  expect(await metrics()).toMatch(/_count\{route="\/users\/public\/:userId",status="200"\} 1\n/);
  const onDashboard = queries.flatMap((query) => query.match(/\w+(?=\{)/g) ?? []);
  expect(onDashboard.length).toBeGreaterThanOrEqual(queries.length);
  for (const name of onDashboard) expect(await metrics()).toContain(`\n${name}`);
  renameSync(await makeSnapshot([{ type: "user", id: 1, public: false }]), snapshot);
  await replaced("swapped");
  expect(await metrics()).toContain("roadbook_snapshot_public_users 0\n");
  writeFileSync(`${snapshot}.new`, "");
  renameSync(`${snapshot}.new`, snapshot);
  await replaced("refused");
  await target.close();
});

const hasPromtool = tryProgram("promtool");

test.if(hasPromtool)(
  "promtool accepts the alerts, such as those for many new or missing public users",
  async () => {
    const rules = ["check", "rules", "scripts/deploy/alerts.yaml"];
    expect(await run(["promtool", ...rules], { cwd: root })).toMatchObject({ code: 0 });
    // The number of public users an hour ago and now, and how many alerts it raises.
    const cases = { "100 51": 0, "100 50": 1, "100 109": 0, "100 110": 1, "0 0": 0, "0 9": 0 };
    const expr = 'count(ALERTS{alertname="RoadbookPublicUsersChanged"}) or vector(0)';
    const tests = Object.entries(cases).map(([values, value]) => ({
      interval: "1h",
      input_series: [{ series: "roadbook_snapshot_public_users", values }],
      promql_expr_test: [{ expr, eval_time: "1h", exp_samples: [{ value }] }],
    }));
    // One minute after the first of two refusals, of which the first is short.
    const series = "roadbook_snapshot_refused";
    tests.push({
      interval: "1m",
      input_series: [{ series, values: "0 1 0 1 1" }],
      promql_expr_test: [2, 4].map((minute) => ({
        expr: 'count(ALERTS{alertname="RoadbookSnapshotRefused", alertstate="firing"}) or vector(0)',
        eval_time: `${minute}m`,
        exp_samples: [{ value: minute === 4 ? 1 : 0 }],
      })),
    });
    const file = join(temporaryFolder(), "tests.json");
    writeFileSync(file, JSON.stringify({ rule_files: [join(root, String(rules.at(-1)))], tests }));
    expect(await run(["promtool", "test", "rules", file])).toMatchObject({ code: 0 });
  },
);

test.if(hasPromtool)("promtool accepts the guide's configuration and the dashboard", async () => {
  const [, configuration = ""] = /```yaml\n(rule_files[\s\S]*?)```/.exec(guide) ?? [];
  const rules = queries.map((expr) => ({ record: "panel", expr }));
  const folder = temporaryFolder();
  writeFileSync(join(folder, "prometheus.yml"), configuration);
  // In the place of the alerts, the configuration names the queries.
  const groups = [{ name: "dashboard", rules }];
  writeFileSync(join(folder, "alerts.yaml"), JSON.stringify({ groups }));
  const check = ["promtool", "check", "config", "prometheus.yml"];
  expect(await run(check, { cwd: folder })).toMatchObject({ code: 0 });
});

test("with --admin-host and --fault, other hosts reach the admin port, and faults arrive", async () => {
  const target = await openWithAdmin("--admin-host", "0.0.0.0", "--fault", "none");
  const url = `http://127.0.0.2:${new URL(target.admin).port}/faults`;
  expect((await fetch(url, { method: "PUT", body: '["*:status=503"]' })).status).toBe(204);
  expect((await fetch(`${target.origin}/users/public/42`)).status).toBe(503);
  await target.close();
});

test("a test rig sees the last requests, with their queries, until it deletes them", async () => {
  const faults = ["--fault", "profile/42:close", "--fault", "users:delay=1ms,status=503"];
  const target = await openWithAdmin("--search-limit", "1", ...faults);
  const journal = async (method = "GET") => fetch(`${target.admin}/requests`, { method });
  const paths = ["/search/users?q=no%20wak", "/search/users?q=no", "/nope", "/users/public/42"];
  for (const path of paths) await fetch(`${target.origin}${path}`, { method: "HEAD" });
  await converse(target, "GET /users/public/42 HTTP/1.1\r\nhost: a\r\n\r\n");

  const requests = await (await journal()).json();
  expect(requests).toEqual([
    { time: expect.any(String), method: "HEAD", path: "/search/users?q=no%20wak", status: 503 },
    { time: expect.any(String), method: "HEAD", path: "/search/users?q=no", status: 429 },
    { time: expect.any(String), method: "HEAD", path: "/nope", status: 404 },
    { time: expect.any(String), method: "HEAD", path: "/users/public/42", status: 500 },
    { time: expect.any(String), method: "GET", path: "/users/public/42", status: 0 },
  ]);
  const times = requests.map(({ time }: { time: string }) => Date.parse(time));
  expect(times).toEqual(times.toSorted((a: number, b: number) => a - b));

  expect((await journal("DELETE")).status).toBe(204);
  expect(await (await journal()).json()).toEqual([]);
  // Its client leaves before it is its turn.
  process.kill(target.pid, "SIGSTOP");
  const socket = await dial(target);
  socket.end("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await until(() => socket.writableFinished);
  process.kill(target.pid, "SIGCONT");
  await closed(socket);
  expect(await (await journal()).json()).toMatchObject([{ path: "/", status: null }]);
  for (let id = 101; id <= 1101; id++) await fetch(`${target.origin}/users/public/${id}`);
  const last = await (await journal()).json();
  expect(last).toHaveLength(1000);
  expect([last.at(0).path, last.at(-1).path]).toEqual(["/users/public/102", "/users/public/1101"]);
  await target.close();
});

test("counts in a shared store are not reset, and the error says how to delete them", async () => {
  const store = ["--rate-limit-store", `redis://127.0.0.1:${findFreePort()}`];
  const target = await openWithAdmin("--fault", "none", ...store);
  const response = await fetch(`${target.admin}/search-limit`, { method: "DELETE" });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("delete its keys roadbook:limit:* instead");
  await target.close();
});

test("while requests are open, a stopping server is live but not ready", async () => {
  const target = await openWithAdmin("--shutdown-timeout", "1m");
  const socket = await dial(target);
  socket.write("GET /health HTTP/1.1\r\nHost: a.example\r\n"); // incomplete on purpose
  // By the time /ready responds, the server has read the incomplete request.
  await until(async () => (await fetch(`${target.admin}/ready`)).status === 200);
  const closed = target.close();
  await until(async () => (await fetch(`${target.admin}/ready`)).status === 503);
  expect((await fetch(`${target.admin}/live`)).status).toBe(200);
  const received = new Promise((resolve) => socket.once("data", resolve));
  socket.write("\r\n");
  expect(String(await received)).toStartWith("HTTP/1.1 200 OK\r\n");
  socket.destroy();
  await closed;
});
