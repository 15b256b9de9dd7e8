/** The admin port: which clients reach it, its metrics for Prometheus, and its probes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { makeSnapshot } from "../datasets.ts";
import { openExecutable, root, run, type Target, until } from "../support.ts";

/** Starts the executable with an admin port, whose origin is read from the log. */
async function openWithAdmin(...words: string[]): Promise<Target & { admin: string }> {
  const announced = Promise.withResolvers<string>();
  let log = "";
  const target = await openExecutable(["--admin-port", "0", ...words], (text) => {
    log += text;
    for (const line of log.split("\n").slice(0, -1)) {
      const [, origin] = /^admin listening on (http:\/\/\S+)$/.exec(JSON.parse(line).msg) ?? [];
      if (origin) announced.resolve(origin);
    }
  });
  return { ...target, admin: await announced.promise };
}

/** The value of a metric's sample. `name` includes the labels. */
async function sample(admin: string, name: string): Promise<number | undefined> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

describe("metrics", () => {
  let target: Target & { admin: string };
  let snapshot: string;
  beforeAll(async () => {
    snapshot = await makeSnapshot();
    target = await openWithAdmin("--snapshot", snapshot, "--search-limit", "2");
  });
  afterAll(() => target.close());
  const read = (name: string) => sample(target.admin, name);

  test("are in Prometheus's text format, each with a help text and a type", async () => {
    const response = await fetch(`${target.admin}/metrics`);
    expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    const text = await response.text();
    const families = new Set<string>();
    for (const line of text.split("\n")) {
      if (line === "") continue;
      const [, kind, name = ""] = /^# (HELP|TYPE) (\w+) ./.exec(line) ?? [];
      if (kind) families.add(name);
      else
        expect(line).toMatch(/^\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? (-?\d[\d.e+-]*|\+Inf|NaN)$/i);
    }
    for (const name of [
      "http_requests_total",
      "http_request_duration_seconds",
      "roadbook_search_limit_decisions_total",
      "roadbook_search_limit_clients",
      "roadbook_snapshot_age_seconds",
      "roadbook_snapshot_built_timestamp_seconds",
      "roadbook_snapshot_replacements_total",
      "nodejs_eventloop_lag_p99_seconds",
      "process_resident_memory_bytes",
    ]) {
      expect(families).toContain(name);
    }
  });

  test("count and time requests by route and status, ignoring the /api prefix", async () => {
    for (const path of ["/users/public/42", "/api/users/public/44", "/users/public/43", "/nope"]) {
      await target.fetch(path);
    }
    const ok = '{route="/users/public/:userId",status="200"}';
    expect(await read(`http_requests_total${ok}`)).toBe(2);
    expect(await read(`http_request_duration_seconds_count${ok}`)).toBe(2);
    expect(await read(`http_request_duration_seconds_sum${ok}`)).toBeWithin(0, 10);
    const upTo = async (le: string) =>
      read(`http_request_duration_seconds_bucket{le="${le}",${ok.slice(1)}`) ?? Number.NaN;
    expect(await upTo("+Inf")).toBe(2);
    const bounds = ["0.00001", "0.00005", "0.0001", "0.0005", "0.001", "0.01", "0.1", "1", "+Inf"];
    const counts = await Promise.all(bounds.map(upTo));
    expect(counts).toEqual(counts.toSorted((a, b) => Number(a) - Number(b)));
    expect(await read('http_requests_total{route="/users/public/:userId",status="403"}')).toBe(1);
    expect(await read('http_requests_total{route="unknown",status="404"}')).toBe(1);
  });

  test("count the limit's decisions and the clients that it tracks", async () => {
    for (let times = 0; times < 5; times++) await target.fetch("/search/users?q=no");
    const decisions = "roadbook_search_limit_decisions_total";
    expect(await read(`${decisions}{decision="allowed"}`)).toBe(2);
    expect(await read(`${decisions}{decision="refused"}`)).toBe(3);
    expect(await read("roadbook_search_limit_clients")).toBe(1);
    expect(await read("roadbook_search_limit_store_up")).toBe(1);
  });

  test("count a page as one request, and its searches only as limit decisions", async () => {
    await target.fetch("/?q=no");
    expect(await read('http_requests_total{route="/",status="429"}')).toBe(1);
    expect(await read('http_requests_total{route="/search/users",status="429"}')).toBe(3);
    expect(await read('roadbook_search_limit_decisions_total{decision="refused"}')).toBe(4);
  });

  test("describe the snapshot and count swapped and refused replacements", async () => {
    const replacements = (outcome: string) =>
      read(`roadbook_snapshot_replacements_total{outcome="${outcome}"}`);
    expect([await replacements("swapped"), await replacements("refused")]).toEqual([0, 0]);
    expect(await read("roadbook_snapshot_public_users")).toBe(2);
    renameSync(await makeSnapshot([{ type: "user", id: 1, public: false }]), snapshot);
    await until(async () => (await replacements("swapped")) !== 0);
    expect(await read("roadbook_snapshot_public_users")).toBe(0);
    const health = await (await target.fetch("/health")).text();
    const { built_at } = JSON.parse(health).snapshot;
    expect(await read("roadbook_snapshot_built_timestamp_seconds")).toBe(
      Date.parse(built_at) / 1000,
    );
    expect(await read("roadbook_snapshot_age_seconds")).toBeWithin(0, 120);
    writeFileSync(`${snapshot}.new`, "");
    renameSync(`${snapshot}.new`, snapshot);
    await until(async () => (await replacements("refused")) !== 0);
    expect(await replacements("swapped")).toBe(1);
  });

  test("are what the alerts for Prometheus use", async () => {
    const text = await (await fetch(`${target.admin}/metrics`)).text();
    const file = join(root, "scripts/deploy/alerts.yaml");
    const names = new Set((await Bun.file(file).text()).match(/(?:roadbook|http|nodejs)_\w+/g));
    expect(names.size).toBeGreaterThan(5);
    // A server of a local file has no source.
    names.delete("roadbook_snapshot_source_up");
    for (const name of names) expect(text).toContain(`# TYPE ${name} `);
    if (!Bun.which("promtool") && !process.env.ROADBOOK_REQUIRE_ALL) return;
    expect(await run(["promtool", "check", "rules", file])).toMatchObject({ code: 0 });
  });

  test("contain no name, query or address", async () => {
    await target.fetch("/users/public/42?x=Zyxwv");
    await target.fetch("/search/users?q=Zyxwv");
    await target.fetch("/Zyxwv/%22%0A");
    const text = await (await fetch(`${target.admin}/metrics`)).text();
    for (const secret of ["Zyxwv", "Nowak", "127.0.0.1"]) expect(text).not.toContain(secret);
  });
});

const notFound = {
  success: false,
  error: { code: "route_not_found", message: expect.any(String) },
};

describe("the public port and the admin port", () => {
  let target: Target & { admin: string };
  beforeAll(async () => {
    target = await openWithAdmin();
  });
  afterAll(() => target.close());

  test.each(["/metrics", "/live", "/ready", "/api/metrics"])(
    "%s is unknown on the public port",
    async (path) => {
      const response = await target.fetch(path);
      expect([response.status, await response.json()]).toEqual([404, notFound]);
    },
  );

  // Without --fault, the routes for test rigs are unknown too.
  test.each(["/users/public/42", "/health", "/docs", "/", "/constructor", "/faults"])(
    "%s is unknown on the admin port",
    async (path) => {
      const response = await fetch(target.admin + path);
      expect([response.status, await response.json()]).toEqual([404, notFound]);
    },
  );

  test("the admin port listens on loopback and supports GET and HEAD", async () => {
    expect(target.admin).toStartWith("http://127.0.0.1:");
    for (const word of ["live", "ready"]) {
      const path = `/${word}`;
      const response = await fetch(target.admin + path);
      expect([response.status, await response.text()]).toEqual([200, `${word}\n`]);
      const head = await fetch(target.admin + path, { method: "HEAD" });
      expect([head.status, await head.text()]).toEqual([200, ""]);
      const post = await fetch(target.admin + path, { method: "POST", body: "x" });
      expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    }
  });
});

test("--admin-host opens the admin port to other hosts", async () => {
  const target = await openWithAdmin("--admin-host", "0.0.0.0");
  expect(target.admin).toStartWith("http://0.0.0.0:");
  const { port } = new URL(target.admin);
  expect((await fetch(`http://127.0.0.2:${port}/live`)).status).toBe(200);
  await target.close();
});

test("on a test rig, the admin port replaces the faults and resets the search limit", async () => {
  const target = await openWithAdmin("--fault", "none", "--search-limit", "2");
  const statuses = async () => {
    // The global fetch, because target.fetch throws on undocumented headers.
    const drawn = Array.from({ length: 4 }, () => fetch(`${target.origin}/search/users?q=no`));
    return (await Promise.all(drawn)).map(({ status }) => status).sort();
  };
  const put = async (body: unknown) => {
    const response = await fetch(`${target.admin}/faults`, {
      method: "PUT",
      body: JSON.stringify(body),
    });
    return [response.status, response.status === 204 ? null : (await response.json()).error];
  };
  const reset = () => fetch(`${target.admin}/search-limit`, { method: "DELETE" });

  expect(await statuses()).toEqual([200, 200, 429, 429]);
  // Each PUT begins the count again, and a search that fails on purpose counts like any other.
  for (const _ of [1, 2]) {
    expect((await reset()).status).toBe(204);
    expect(await put(["search:status=503,times=1"])).toEqual([204, null]);
    expect(await statuses()).toEqual([200, 429, 429, 503]);
  }
  for (const [body, message] of [
    [
      ["*:close", "search:status=200"],
      /^faults must have a status of .*, got "search:status=200"$/,
    ],
    ["*:close", /^The body must be a JSON list of faults/],
    [[{ target: "search" }], /^The body must be a JSON list of faults/],
  ]) {
    const error = { code: "invalid_faults", message: expect.stringMatching(message as RegExp) };
    expect(await put(body)).toEqual([400, error]);
  }
  expect(await put([])).toEqual([204, null]);
  await reset();
  expect(await statuses()).toEqual([200, 200, 429, 429]);
  const get = await fetch(`${target.admin}/faults`);
  expect([get.status, get.headers.get("allow")]).toEqual([405, "PUT"]);
  await target.close();

  const store = ["--rate-limit-store", "redis://127.0.0.1:1"];
  const sharing = await openWithAdmin("--fault", "none", ...store);
  const refused = await fetch(`${sharing.admin}/search-limit`, { method: "DELETE" });
  expect([refused.status, (await refused.json()).error.code]).toEqual([409, "limit_is_shared"]);
  await sharing.close();
});

test("without --admin-port there is no admin port", async () => {
  let log = "";
  const target = await openExecutable([], (text) => {
    log += text;
  });
  await target.close();
  expect(log).not.toContain("admin");
});

test("while requests are open, a stopping server is live but not ready", async () => {
  const target = await openWithAdmin("--shutdown-timeout", "1m");
  const { hostname, port } = new URL(target.origin);
  const socket = connect(Number(port), hostname);
  const head = "GET /health HTTP/1.1\r\nHost: a.example\r\n"; // incomplete on purpose
  await new Promise((resolve) => socket.write(head, resolve));
  // By the time /ready responds, the server has read the incomplete request.
  await until(async () => (await fetch(`${target.admin}/ready`)).status === 200);
  const closed = target.close();
  let ready = await fetch(`${target.admin}/ready`);
  while (ready.status === 200) ready = await fetch(`${target.admin}/ready`);
  expect([ready.status, await ready.text()]).toEqual([503, "not ready\n"]);
  expect((await fetch(`${target.admin}/live`)).status).toBe(200);
  socket.write("\r\n");
  const [received] = await new Promise<Buffer[]>((resolve) =>
    socket.once("data", (data) => resolve([data])),
  );
  expect(String(received)).toStartWith("HTTP/1.1 200 OK\r\n");
  socket.destroy();
  await closed;
}, 30_000);
