/** The admin port: its metrics for Prometheus, its probes, and its routes for test rigs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { UsageError } from "../../src/domain/invalid-value.ts";
import { createRoadbook, type Roadbook } from "../../src/roadbook.ts";
import { createAdminFetch } from "../../src/server/admin.ts";
import { createMetrics, type Metrics } from "../../src/server/metrics.ts";
import { createRecorder } from "../../src/server/recorder.ts";
import { community } from "../datasets.ts";
import { root } from "../support.ts";

let roadbook: Roadbook;
let metrics: Metrics;
let admin: (path: string, init?: RequestInit) => Promise<Response>;
beforeAll(async () => {
  metrics = createMetrics();
  roadbook = await createRoadbook({
    dataset: community,
    searchLimit: 2,
    maxClients: 4,
    page: true,
    faults: [],
    onResponse: metrics.countResponse,
  });
  metrics.addGauges({
    roadbook: {
      meta: () => roadbook.meta(),
      limiterStatus: () => roadbook.limiterStatus(),
      refused: () => undefined,
    },
    remote: undefined,
    certificate: { expiry: () => new Date(0) },
  });
  admin = openAdmin({ roadbook, recorder: createRecorder() });
});
afterAll(() => roadbook.close());

const bugs: unknown[] = [];

type Rig = Parameters<typeof createAdminFetch>[0]["rig"];

function openAdmin(rig: Rig, isReady = true, host = "127.0.0.1") {
  const handler = createAdminFetch({
    host,
    metrics,
    isReady: () => isReady,
    rig,
    onBug: (error) => bugs.push(error),
  });
  return async (path: string, init?: RequestInit) => {
    const headers = { host: "127.0.0.1:9090", ...init?.headers };
    return handler(new Request(`http://127.0.0.1:9090${path}`, { ...init, headers }));
  };
}

const get = async (path: string) =>
  roadbook.fetch(new Request(`http://roadbook.test${path}`), "192.0.2.1");

/** The value of a metric's sample. `name` includes the labels. */
async function read(name: string): Promise<number | undefined> {
  const text = await metrics.render();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}
const seconds = "http_request_duration_seconds";
const decided = (decision: string) =>
  read(`roadbook_search_limit_decisions_total{decision="${decision}"}`);

describe("metrics", () => {
  test("are in Prometheus's text format, and include all that the alerts use", async () => {
    const response = await admin("/metrics");
    expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    const text = await response.text();
    for (const line of text.split("\n")) {
      expect(line).toMatch(
        /^$|^# (HELP|TYPE) \w+ .|^\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? (-?\d[\d.e+-]*|\+Inf|NaN)$/i,
      );
    }
    const file = join(root, "scripts/deploy/alerts.yaml");
    const names = new Set((await Bun.file(file).text()).match(/(?:roadbook|http|nodejs)_\w+/g));
    expect(names.size).toBeGreaterThan(5);
    // A server of a local file has no source.
    names.delete("roadbook_snapshot_source_up");
    for (const name of names) expect(text).toContain(`# TYPE ${name.replace(/_count$/, "")} `);
  });

  test("count and time requests by route and status, ignoring the /api prefix", async () => {
    for (const path of ["/users/public/42", "/api/users/public/44", "/users/public/43", "/nope"]) {
      await get(path);
    }
    const profile = 'route="/users/public/:userId"';
    expect(await read(`${seconds}_count{${profile},status="200"}`)).toBe(2);
    expect(await read(`${seconds}_sum{${profile},status="200"}`)).toBeWithin(0, 10);
    expect(await read(`${seconds}_bucket{le="+Inf",${profile},status="200"}`)).toBe(2);
    expect(await read(`${seconds}_count{${profile},status="403"}`)).toBe(1);
    expect(await read(`${seconds}_count{route="unknown",status="404"}`)).toBe(1);
  });

  test("count a connection that a fault closes with the status 0", async () => {
    roadbook.setFaults(["achievements:close"]);
    const request = new Request("http://roadbook.test/users/42/achievements", { method: "HEAD" });
    await expect(get("/users/42/achievements")).rejects.toThrow("closed by an injected fault");
    expect((await roadbook.fetch(request)).status).toBe(500);
    roadbook.setFaults([]);
    const { status } = await get("/users/42/achievements");
    expect(status).toBe(200);
    const route = 'route="/users/:userId/achievements"';
    for (const status of [0, 200, 500]) {
      expect(await read(`${seconds}_count{${route},status="${status}"}`)).toBe(1);
    }
  });

  test("count each of many requests, however many the histogram gets at once", async () => {
    for (let times = 0; times < 600; times++) await get("/health");
    expect(await read(`${seconds}_count{route="/health",status="200"}`)).toBe(600);
    await get("/health");
    expect(await read(`${seconds}_count{route="/health",status="200"}`)).toBe(601);
  });

  test("count the limit's decisions, one for a page of results, and the state of its store and places", async () => {
    for (let times = 0; times < 5; times++) await get("/search/users?q=no");
    await get("/?q=no");
    expect([await decided("allowed"), await decided("refused")]).toEqual([2, 4]);
    expect(await read(`${seconds}_count{route="/",status="429"}`)).toBe(1);
    expect(await read("roadbook_search_limit_store_up")).toBe(1);
    expect(await read("roadbook_search_limit_clients_ratio")).toBe(0.25);
  });

  test("describe the snapshot, and contain no name, query or address", async () => {
    const { built_at, counts } = roadbook.meta();
    const builtAt = await read("roadbook_snapshot_built_timestamp_seconds");
    expect(builtAt).toBe(Date.parse(built_at) / 1000);
    expect(await read("roadbook_snapshot_public_users")).toBe(counts.public_users);
    for (const path of ["/users/public/42?x=Zyxwv", "/search/users?q=Zyxwv", "/Zyxwv/%22%0A"]) {
      await get(path);
    }
    expect(await metrics.render()).not.toMatch(/Zyxwv|Nowak|192\.0\.2/);
  });
});

test("the probes support GET and HEAD, and say when the server is not ready", async () => {
  for (const word of ["live", "ready"]) {
    const response = await admin(`/${word}`);
    expect([response.status, await response.text()]).toEqual([200, `${word}\n`]);
    expect((await admin(`/${word}`, { method: "HEAD" })).status).toBe(200);
    for (const method of ["POST", "PROPFIND"]) {
      const other = await admin(`/${word}`, { method, body: "x" });
      expect([other.status, other.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    }
  }
  const stopping = openAdmin(undefined, false);
  const ready = await stopping("/ready");
  expect([ready.status, await ready.text()]).toEqual([503, "not ready\n"]);
  expect((await stopping("/live")).status).toBe(200);
});

test.each<[string, accepted: string[], refused: string[]]>([
  ["127.0.0.1", ["127.0.0.1", "LOCALHOST:9090"], ["", "evil.example:9090", "127.0.0.1, evil"]],
  ["127.0.0.2", ["127.0.0.2:1", "localhost"], ["127.0.0.1", "evil.example"]],
  ["::1", ["[::1]:9090", "[::1]", "localhost:1"], ["[::2]", "::1", "evil.example"]],
  ["::ffff:127.0.0.1", ["[::ffff:7f00:1]:9090", "localhost"], ["evil.example"]],
  ["localhost", ["localhost", "127.0.0.1:9090", "[::1]:9090"], ["evil.example", "localhost.evil"]],
  ["0.0.0.0", ["192.0.2.1:9090", "metrics.example"], []],
  ["::", ["[2001:db8::1]", "metrics.example"], []],
])("on %s, only the port's own hosts get a response", async (address, accepted, refused) => {
  const port = openAdmin(undefined, true, address);
  for (const host of accepted)
    expect((await port("/live", { headers: { host } })).status).toBe(200);
  for (const host of refused) {
    const response = await port("/metrics", { headers: { host } });
    const body = { success: false, error: { code: "host_not_allowed" } };
    expect([response.status, await response.json()]).toMatchObject([403, body]);
  }
});

test.each<[bytes: number, status: number, code: string]>([
  [2 ** 16, 400, "invalid_request"],
  [2 ** 16 + 1, 413, "body_too_large"],
])("a body of %d bytes is a %d, also in chunks", async (bytes, status, code) => {
  const body = new Blob([Buffer.alloc(bytes, 32)]);
  for (const sent of [body, body.stream()]) {
    const response = await admin("/faults", { method: "PUT", body: sent });
    expect([response.status, await response.json()]).toMatchObject([status, { error: { code } }]);
  }
});

// Without --fault, the routes for test rigs are unknown too.
test("the public port and the admin port have no path in common", async () => {
  const bare = openAdmin(undefined);
  const answers = ["/users/public/42", "/health", "/", "/constructor", "/faults", "/requests"].map(
    (path) => bare(path),
  );
  for (const path of ["/metrics", "/live", "/ready", "/api/metrics"]) answers.push(get(path));
  for (const response of await Promise.all(answers)) {
    const body = { success: false, error: { code: "route_not_found" } };
    expect([response.status, await response.json()]).toMatchObject([404, body]);
  }
});

test("on a test rig, faults are replaced and the search limit is reset", async () => {
  const statuses = async () => {
    const drawn = Array.from({ length: 4 }, () => get("/search/users?q=no"));
    return (await Promise.all(drawn)).map(({ status }) => status).sort();
  };
  const put = async (body: unknown) => {
    const response = await admin("/faults", { method: "PUT", body: JSON.stringify(body) });
    return [response.status, response.status === 204 ? null : (await response.json()).error];
  };
  const reset = () => admin("/search-limit", { method: "DELETE" });

  // Each PUT begins the count again, and a search that fails on purpose counts like any other.
  for (const _ of [1, 2]) {
    expect((await reset()).status).toBe(204);
    expect(await put(["search:status=503,times=1"])).toEqual([204, null]);
    expect(await statuses()).toEqual([200, 429, 429, 503]);
  }
  for (const [body, message] of [
    [["*:close", "search:status=200"], /search needs a 5xx status .*, got "search:status=200"$/],
    ...["*:close", { fault: "*:close" }, null, [{ target: "search" }], ["*:close", 1]].map(
      (body) =>
        [body, /^the body must be a JSON list of faults, such as \["search:status=503,/] as const,
    ),
  ] as const) {
    const error = { code: "invalid_request", message: expect.stringMatching(message) };
    expect(await put(body)).toEqual([400, error]);
  }
  const text = await admin("/faults", { method: "PUT", body: "*:close" });
  expect([text.status, await text.text()]).toEqual([400, expect.stringContaining("a JSON list")]);
  expect(await put([])).toEqual([204, null]);
  await reset();
  expect(await statuses()).toEqual([200, 200, 429, 429]);
  await put(["*:close,rate=0.50", "search:delay=1s"]);
  const listed = await admin("/faults");
  expect(listed.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(await listed.json()).toEqual(["*:close,rate=0.50", "search:delay=1s"]);
  const wrong = await admin("/faults", { method: "DELETE" });
  expect(wrong.headers.get("allow")).toBe("GET, HEAD, PUT");
  const paths = "The admin port has /metrics, /live, /ready, /faults, /search-limit, /requests.";
  expect((await (await admin("/fault")).json()).error.message).toBe(paths);
  expect(bugs).toEqual([]);
});

test.each([
  [400, "for incorrect usage", UsageError, "invalid_request", "thrown"],
  [500, "for a bug, which is reported", TypeError, "internal_error", "its log has the error"],
])("an error is a %d %s", async (status, _, ErrorClass, code, message) => {
  bugs.length = 0;
  const resetLimit = () => {
    throw new ErrorClass("thrown");
  };
  const failing = openAdmin({ roadbook: { ...roadbook, resetLimit }, recorder: createRecorder() });
  const response = await failing("/search-limit", { method: "DELETE" });
  const body = { error: { code, message: expect.stringContaining(message) } };
  expect([response.status, await response.json()]).toMatchObject([status, body]);
  expect(bugs).toEqual(status === 500 ? [new TypeError("thrown")] : []);
});
