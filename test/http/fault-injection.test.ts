/** Fault injection: the syntax of faults, and their effect on clients. */
import { expect, test } from "bun:test";
import { parseFault } from "../../src/http/parse-fault.ts";
import { createRoadbook } from "../../src/roadbook.ts";
import type { RoadbookOptions } from "../../src/settings/library-options.ts";
import { community } from "../datasets.ts";
import { converse } from "../sockets.ts";

const paths = {
  users: ["/search/users?q=nowak"],
  companies: ["/api/search/companies?q=express"],
  profile: ["/users/public/42"],
  achievements: ["/api/users/42/achievements"],
  health: ["/health"],
};

async function open(faults: string[], options: RoadbookOptions = {}) {
  const roadbook = await createRoadbook({ dataset: community, faults, ...options });
  const ask = async (path: string, method = "GET") =>
    roadbook.fetch(new Request(`http://roadbook.test${path}`, { method }), "192.0.2.1");
  return { ask, [Symbol.asyncDispose]: roadbook.close };
}

test.each([
  ["search:status=503,rate=0.1", { target: "search", ending: 503, rate: 0.1 }],
  ["profile/42:status=500", { target: "profile", userId: "42", ending: 500 }],
  ["users:delay=1.5s,truncate", { target: "users", ending: "truncate", delayMs: [1500, 1500] }],
  ["companies:delay=50ms-2s", { target: "companies", ending: undefined, delayMs: [50, 2000] }],
  ["*:close,times=2", { target: "*", ending: "close", times: 2, rate: 1 }],
  ["*:status=400", { target: "*", ending: 400 }],
  ["health:delay=1s,status=500", { target: "health", delayMs: [1000, 1000], ending: 500 }],
])("%s is valid", (text, fault) => {
  expect(parseFault(text)).toMatchObject(fault as object);
});

const target =
  "a target is search, users, companies, profile, profile/42, achievements, health or *";
const part =
  "a part is status=503, close, truncate, garbage, delay=200ms, rate=0.1 (above 0, at most 1) or times=2 (at least 1)";
const unit = "a delay has a unit, as in delay=200ms";
const delay = "a delay is a duration or two, as in delay=200ms or delay=50ms-2s";
const once =
  "a fault has only one delay, rate and times, and only one of status, close, truncate and garbage";
const status = "needs a 5xx status or one that the API returns for it";
test.each([
  ...[":", "serch:close", "users/42:close", "profile/042:close", "profile/:close"].map((text) => [
    text,
    text.replace(/:.*/, ""),
    target,
  ]),
  ...["", "explode", "rate0.1", "constructor", "close=1", "status", "status=5e2"].flatMap(
    (wrong) => [
      [`search:${wrong}`, wrong, part],
      [`search:close,${wrong},times=1`, wrong, part],
    ],
  ),
  ...["rate=", "rate=0", "rate=1.1", "times=0"].map((wrong) => [
    `search:close,${wrong}`,
    wrong,
    part,
  ]),
  ...["delay=200", "delay=0", "delay=50-200"].map((wrong) => [`search:${wrong}`, wrong, unit]),
  ...[
    "delay=",
    "delay=0s",
    "delay=2s-50ms",
    "delay=1s-2s-3s",
    "delay=50-2s",
    "delay=2days",
    "delay=1s-",
    "delay=1s-2x",
  ].map((wrong) => [`search:${wrong}`, wrong, delay]),
  ["search:status=503,close", "close", once],
  ["search:truncate,garbage", "garbage", once],
  ["search:close,rate=0.1,rate=1", "rate=1", once],
  ["search:times=1,close,times=2", "times=2", once],
  ["search:delay=1ms,delay=2ms", "delay=2ms", once],
  ["search:status=200", "status=200", `search ${status}`],
  ["profile:status=429", "status=429", `profile ${status}`],
  ["health:status=600", "status=600", `health ${status}`],
  ["*:status=403", "status=403", `* ${status}`],
])("the error for %p names the part %p", (text = "", wrong, reason) => {
  const message = `has the part ${JSON.stringify(wrong)}, but ${reason}`;
  expect(() => parseFault(text)).toThrow(new RangeError(message));
});

test("a fault without an effect is an error", () => {
  const message = "must have one of status, close, truncate and garbage, or only delay";
  expect(() => parseFault("search:rate=0.5")).toThrow(message);
});

test.each<[string, string[]]>([
  ["search", ["users", "companies"]],
  ["users", ["users"]],
  ["companies", ["companies"]],
  ["profile", ["profile"]],
  ["achievements", ["achievements"]],
  ["health", ["health"]],
  ["*", ["users", "companies", "profile", "achievements"]],
])("%s affects the routes of %p and no others", async (target, affected) => {
  await using server = await open([`${target}:status=503`]);
  for (const [name, ofName] of Object.entries({ ...paths, docs: ["/docs/json"] })) {
    for (const path of ofName) {
      expect([path, (await server.ask(path)).status]).toEqual([
        path,
        affected.includes(name) ? 503 : 200,
      ]);
    }
  }
});

test("a fault with an id reaches the requests for that user only", async () => {
  await using server = await open(["profile/42:status=500", "achievements/44:status=503,times=1"]);
  const statuses = [];
  for (const path of ["/users/public/42", "/api/users/public/42", "/users/public/44"]) {
    statuses.push((await server.ask(path)).status);
  }
  for (const id of [42, 44, 44])
    statuses.push((await server.ask(`/users/${id}/achievements`)).status);
  expect(statuses).toEqual([500, 500, 200, 200, 503, 200]);
});

test("if several faults fit a request, the first one decides, and each counts it", async () => {
  await using server = await open(["profile:status=500,times=1", "profile:status=503,times=2"]);
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await server.ask("/users/public/42")).status);
  expect(statuses).toEqual([500, 503, 200]);
});

test("a fault neither reaches nor counts a preflight or another method", async () => {
  await using server = await open(["search:status=503,times=2"]);
  const [path = ""] = paths.users;
  const statuses: number[] = [];
  for (const method of ["OPTIONS", "POST", "HEAD", "GET", "GET"]) {
    statuses.push((await server.ask(path, method)).status);
  }
  expect(statuses).toEqual([204, 405, 503, 503, 200]);
});

test.each(["/search/users?q=nowak", "/api/users/public/42", "/users/42/achievements", "/health"])(
  "a truncated %s has the first half of its body, and garbage is not JSON",
  async (path) => {
    await using usual = await open([]);
    const whole = await (await usual.ask(path)).text();
    await using cut = await open(["*:truncate", "health:truncate"]);
    const truncated = await cut.ask(path);
    expect(truncated.status).toBe(200);
    expect(truncated.headers.get("cache-control")).toBe("no-store");
    expect(truncated.headers.get("etag")).toBeNull();
    expect(truncated.headers.get("content-type")).toBe("application/json; charset=utf-8");
    // Each server's snapshot may be built in another second.
    const withoutBuild = (text: string) =>
      text.replace(/"built_at":"[^"]*","sha256":"[\da-f]*/, "");
    const half = withoutBuild(whole.slice(0, whole.length / 2));
    expect(withoutBuild(await truncated.text())).toBe(half);

    await using spoilt = await open(["*:garbage", "health:garbage"]);
    const garbage = await spoilt.ask(path);
    expect([garbage.status, garbage.headers.get("cache-control")]).toEqual([200, "no-store"]);
    await expect(garbage.json()).rejects.toThrow(SyntaxError);
  },
);

test("the error of a private profile can be truncated, too", async () => {
  await using server = await open(["profile:truncate"]);
  const response = await server.ask("/users/public/43");
  expect(response.status).toBe(403);
  await expect(response.json()).rejects.toThrow(SyntaxError);
});

test.each([
  ["search:status=429", paths.users, 429, "rate_limited"],
  ["health:status=405", paths.health, 405, "method_not_allowed"],
  ["*:status=400", paths.achievements, 400, "invalid_user_id"],
  ["*:status=400", paths.companies, 400, "invalid_query"],
  ["profile:status=403", paths.profile, 403, "profile_private"],
  ["profile:status=404", paths.profile, 404, "user_not_found"],
  ["search:status=502", paths.companies, 502, "internal_error"],
  ["search:status=503", paths.companies, 503, "unavailable"],
])("%s has the body and the headers of an API error", async (fault, [path = ""], status, code) => {
  await using server = await open([fault]);
  const response = await server.ask(path);
  const body = JSON.parse(await response.text());
  expect(response.status).toBe(status);
  expect(body).toMatchObject({ success: false, error: { code, message: expect.any(String) } });
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-request-id")).toBeString();
  if (path.includes("search")) {
    expect(response.headers.get("x-ratelimit-limit")).toBe("30");
    const state = status === 429 ? '"search";r=0;t=1' : '"search";r=29';
    expect(response.headers.get("ratelimit")).toContain(state);
  }
  expect(response.headers.get("allow")).toBe(status === 405 ? "GET, HEAD, OPTIONS" : null);
  if (status === 429) expect(body.error.retry_after).toBe(1);
  const wait = status === 429 || status === 503 ? "1" : null;
  expect(response.headers.get("retry-after")).toBe(wait);
});

test.each<[string, RoadbookOptions, string]>([
  ["without a limit", { searchLimit: 0 }, "q=30;w=3600"],
  [
    "for an unlimited client",
    { searchLimit: 7, searchWindow: "60s", unlimited: ["192.0.2.1"] },
    "q=7;w=60",
  ],
  ["for a counted client", { searchLimit: 7, searchWindow: "60s" }, "q=7;w=60"],
])("%s, an injected 429 has all headers of the limit, and a 200 has the usual", async (...row) => {
  const [, options, policy] = row;
  await using server = await open(["search:status=429,times=1"], options);
  const { headers } = await server.ask("/search/users?q=no");
  const resetMs = 1000 * Number(headers.get("x-ratelimit-reset")) - Date.now();
  expect(headers.get("ratelimit-policy")).toBe(`"search";${policy}`);
  expect(headers.get("ratelimit")).toBe('"search";r=0;t=1');
  expect([headers.get("retry-after"), headers.get("x-ratelimit-remaining")]).toEqual(["1", "0"]);
  expect(resetMs).toBeWithin(-60_000, 2001);
  const usual = await server.ask("/search/users?q=no");
  const isCounted = !("unlimited" in options) && options.searchLimit !== 0;
  expect([usual.status, usual.headers.has("ratelimit")]).toEqual([200, isCounted]);
});

test("a search that is refused, with a 400 or by the limit, gets no fault", async () => {
  await using server = await open(["search:status=503"], { searchLimit: 2 });
  expect((await server.ask("/search/users?q=n")).status).toBe(400);
  expect((await server.ask("/search/users?q=no")).status).toBe(503);
  const { status, headers } = await server.ask("/search/users?q=no");
  expect([status, headers.get("retry-after")]).toEqual([429, "3600"]);
});

test("the rate is the share of requests that fail, and the seed determines which", async () => {
  const draw = async (faultSeed: number) => {
    const statuses: number[] = [];
    await using server = await open(["profile:status=503,rate=0.25"], { faultSeed });
    for (let i = 0; i < 200; i++) statuses.push((await server.ask("/users/public/42")).status);
    return statuses;
  };
  const first = await draw(7);
  expect(await draw(7)).toEqual(first);
  expect(await draw(8)).not.toEqual(first);
  expect(first.filter((status) => status === 503).length / 200).toBeWithin(0.15, 0.35);
});

test("setFaults replaces the faults and restarts their random sequence", async () => {
  await using roadbook = await createRoadbook({ dataset: community, faults: [] });
  const draw = async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 20; i++) {
      statuses.push((await roadbook.fetch(new Request("http://a.test/users/public/42"))).status);
    }
    return statuses;
  };
  roadbook.setFaults(["profile:status=503,rate=0.5"], 7);
  const first = await draw();
  expect(new Set(first)).toEqual(new Set([200, 503]));
  roadbook.setFaults(["profile:status=503,rate=0.5"], 7);
  expect(await draw()).toEqual(first);
  roadbook.setFaults(["profile:status=503,times=2", "search:status=500,times=9"]);
  expect(await draw()).toEqual([503, 503, ...new Array(18).fill(200)]);
  expect(() => Reflect.apply(roadbook.setFaults, roadbook, [undefined])).toThrow(TypeError);
  roadbook.setFaults([]);
  expect(new Set(await draw())).toEqual(new Set([200]));
  await using fixed = await createRoadbook({ dataset: community });
  expect(() => fixed.setFaults([])).toThrow("setFaults needs the option faults");
});

test("a delayed response is correct", async () => {
  // The clock is that of the search limit.
  const faults = ["profile:delay=40ms", "profile:delay=30ms"];
  await using server = await open(faults, { clock: () => 0 });
  const start = performance.now();
  const response = await server.ask("/users/public/42");
  // The delays add up to 70 ms, and each timer may fire a millisecond early.
  expect(performance.now() - start).toBeGreaterThan(68);
  expect(await response.text()).toContain("Łukasz Nowak");
});

test("a fetch of the program itself rejects with an error, as for a connection that is closed", async () => {
  await using roadbook = await createRoadbook({ dataset: community, faults: ["profile:close"] });
  const request = new Request("http://roadbook.test/users/public/42");
  for (const from of [undefined, "192.0.2.1", () => "192.0.2.1"]) {
    const error = new TypeError("the connection was closed by an injected fault");
    await expect(Promise.resolve(roadbook.fetch(request, from))).rejects.toThrow(error);
  }
  // A host's server closes the connection, and prints nothing.
  using server = Bun.serve({ port: 0, fetch: roadbook.fetch });
  await expect(fetch(`${server.url}users/public/42`)).rejects.toThrow(/closed/);
  expect((await fetch(`${server.url}users/42/achievements`)).status).toBe(200);
});

test("Bun's fetch repeats a request if a connection that was used before is closed", async () => {
  await using roadbook = await createRoadbook({ dataset: community, faults: [] });
  const { url } = await roadbook.listen();
  expect((await fetch(`${url}/health`)).status).toBe(200);
  roadbook.setFaults(["profile:close,times=1"]);
  expect((await fetch(`${url}/users/public/42`)).status).toBe(200);
  expect(roadbook.listFaults()).toHaveLength(1);
});

test("faults do not reach the page", async () => {
  const faults = ["*:status=503", "health:status=503"];
  await using server = await open(faults, { page: true });
  for (const path of ["/", "/?q=nowak", "/drivers/42", "/companies/3", "/avatars/42.svg"]) {
    expect([path, (await server.ask(path)).status]).toEqual([path, 200]);
  }
});

test("a closed connection gets no bytes, and the server keeps running", async () => {
  await using roadbook = await createRoadbook({ dataset: community, faults: ["profile:close"] });
  const { url } = await roadbook.listen();
  const head = "GET /users/public/42 HTTP/1.1\r\nhost: a\r\n\r\n";
  expect(await converse({ origin: url }, head)).toEqual({ responses: [], rest: "" });
  expect((await fetch(`${url}/users/public/42`, { method: "HEAD" })).status).toBe(500);
  await expect(fetch(`${url}/users/public/42`)).rejects.toThrow();
  expect((await fetch(`${url}/users/42/achievements`)).status).toBe(200);
});
