/** Fault injection: the syntax of faults, and their effect on clients. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { type Fault, parseFault } from "../src/faults.ts";
import { createRoadbook } from "../src/roadbook.ts";
import type { RoadbookOptions } from "../src/serve-flags.ts";
import { community } from "./datasets.ts";

const paths = {
  search: ["/search/users?q=nowak", "/api/search/companies?q=express"],
  profile: ["/users/public/42"],
  achievements: ["/api/users/42/achievements"],
  health: ["/health"],
};

async function withFaults(
  faults: string[],
  use: (ask: (path: string) => Promise<Response>) => Promise<void>,
  options: RoadbookOptions = {},
): Promise<void> {
  await using roadbook = await createRoadbook({ dataset: community, faults, ...options });
  await use(async (path) =>
    roadbook.fetch(new Request(`http://roadbook.test${path}`), "192.0.2.1"),
  );
}

test.each([
  ["search:status=503,rate=0.1", { target: "search", status: 503, rate: 0.1 }],
  ["profile:delay=200ms,jitter=50ms", { target: "profile", delayMs: 200, jitterMs: 50, rate: 1 }],
  ["*:close,rate=0.01", { target: "*", isClosing: true, rate: 0.01 }],
  ["search:status=429", { target: "search", status: 429 }],
  ["*:status=400", { target: "*", status: 400 }],
  [" health : delay=1s, status=500 ", { target: "health", delayMs: 1000, status: 500 }],
])("%s is valid", (text, fault) => {
  expect(parseFault(text)).toMatchObject(fault as object);
});

test.each([
  ["", "must start with a target (search, profile, achievements, health or *), as in"],
  ["searches:close", "must start with a target"],
  ["search", "must start with a target"],
  ["toString:close", "must start with a target"],
  ["search:", "must list only status, close, delay, jitter, rate and times"],
  ["search:explode", "must list only status, close, delay, jitter, rate and times"],
  ["search:rate=0.5", "must have a status, close or delay"],
  ["search:jitter=5ms", "must have a status, close or delay"],
  ["search:status=200", "must have a status of 400, 405, 429 or 500 to 599 for search"],
  ["search:status=403", "must have a status of 400, 405, 429 or"],
  ["search:status=404", "must have a status of 400, 405, 429 or"],
  ["search:status=418", "must have a status of 400,"],
  ["search:status=5e2", "must have a status of 400,"],
  ["profile:status=429", "must have a status of 400, 403, 404, 405 or 500 to 599 for profile"],
  [
    "achievements:status=429",
    "must have a status of 400, 403, 404, 405 or 500 to 599 for achievements",
  ],
  ["health:status=400", "must have a status of 405 or 500 to 599 for health"],
  ["health:status=403", "must have a status of 405 or 500 to 599 for health"],
  ["health:status=600", "must have a status of 405 or 500 to 599 for health"],
  ["*:status=403", "must have a status of 400, 405 or 500 to 599 for *"],
  ["search:status=503,close", "must have only one of status and close"],
  ["search:status=503,status=500", "must have only one status"],
  ["search:close=1", "must have close without a value"],
  ["search:delay=200", "must have a delay from 1ms to 24d"],
  ["search:close,rate=0", "must have a rate above 0 and at most 1"],
  ["search:close,rate=1.1", "must have a rate above 0 and at most 1"],
  ["search:close,rate=", "must have a rate above 0 and at most 1"],
  ["search:close,times", "must have times from 1 to 1000000"],
  ["search:close,times=0", "must have times from 1 to 1000000"],
])("%p is invalid, and the error says why", (text, message) => {
  expect(() => parseFault(text)).toThrow(message);
});

test("the error for the option names the option and the fault", async () => {
  await expect(createRoadbook({ dataset: [], faults: ["search:status=200"] })).rejects.toThrow(
    'faults must have a status of 400, 405, 429 or 500 to 599 for search, got "search:status=200"',
  );
  const fault: Fault = { ...parseFault("health:status=500"), status: 403 };
  await expect(createRoadbook({ dataset: [], faults: [fault] })).rejects.toThrow(
    'faults must have a status of 405 or 500 to 599 for health, got {"target":"health","status":403',
  );
});

test.each<[string, string[]]>([
  ["search", ["search"]],
  ["profile", ["profile"]],
  ["achievements", ["achievements"]],
  ["health", ["health"]],
  ["*", ["search", "profile", "achievements"]],
])("%s affects the routes of %p and no others", async (target, affected) => {
  await withFaults([`${target}:status=503`], async (ask) => {
    for (const [name, ofName] of Object.entries({ ...paths, docs: ["/docs/json"] })) {
      for (const path of ofName) {
        expect([path, (await ask(path)).status]).toEqual([
          path,
          affected.includes(name) ? 503 : 200,
        ]);
      }
    }
  });
});

test.each([
  ["search:status=400", paths.search, 400, "invalid_query"],
  ["profile:status=400", paths.profile, 400, "invalid_user_id"],
  ["profile:status=403", paths.profile, 403, "profile_private"],
  ["profile:status=404", paths.profile, 404, "user_not_found"],
  ["search:status=429", paths.search, 429, "rate_limited"],
  ["search:status=405", paths.search, 405, "method_not_allowed"],
  ["profile:status=405", paths.profile, 405, "method_not_allowed"],
  ["health:status=405", paths.health, 405, "method_not_allowed"],
  ["*:status=400", paths.achievements, 400, "invalid_user_id"],
  ["*:status=400", paths.search, 400, "invalid_query"],
  ["achievements:status=403", paths.achievements, 403, "profile_private"],
  ["search:status=500", paths.search, 500, "internal_error"],
  ["search:status=502", paths.search, 502, "internal_error"],
  ["search:status=503", paths.search, 503, "unavailable"],
])("%s has the body and the headers of an API error", async (fault, [path = ""], status, code) => {
  await withFaults([fault], async (ask) => {
    const response = await ask(path);
    const body = JSON.parse(await response.text());
    expect(response.status).toBe(status);
    expect(body).toMatchObject({ success: false, error: { code, message: expect.any(String) } });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-request-id")).toBeString();
    if (path.includes("search")) {
      const state = status === 429 ? '"search";r=0;t=1' : '"search";r=29';
      expect(response.headers.get("ratelimit")).toContain(state);
    }
    expect(response.headers.get("allow")).toBe(status === 405 ? "GET, HEAD, OPTIONS" : null);
    if (status === 429) expect(body.error.retry_after).toBe(1);
    const wait = status === 429 || status === 503 ? "1" : null;
    expect(response.headers.get("retry-after")).toBe(wait);
  });
});

test("a client over the limit gets a real 429 and no fault", async () => {
  const check = async (ask: (path: string) => Promise<Response>) => {
    expect((await ask("/search/users?q=no")).status).toBe(503);
    const { status, headers } = await ask("/search/users?q=no");
    expect([status, headers.get("retry-after")]).toEqual([429, "3600"]);
  };
  await withFaults(["search:status=503"], check, { searchLimit: 1 });
});

test("the rate is the share of requests that fail, and the seed determines which requests fail", async () => {
  const draw = async (faultSeed: number) => {
    const statuses: number[] = [];
    const check = async (ask: (path: string) => Promise<Response>) => {
      for (let i = 0; i < 400; i++) statuses.push((await ask("/users/public/42")).status);
    };
    await withFaults(["profile:status=503,rate=0.25"], check, { faultSeed });
    return statuses;
  };
  const first = await draw(7);
  expect(await draw(7)).toEqual(first);
  expect(await draw(8)).not.toEqual(first);
  const share = first.filter((status) => status === 503).length / first.length;
  expect(share).toBeWithin(0.15, 0.35);
});

test("setFaults replaces the faults and restarts their random sequence and counts", async () => {
  await using roadbook = await createRoadbook({ dataset: community, faults: [] });
  const draw = async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 20; i++) {
      statuses.push((await roadbook.fetch(new Request("http://a.test/users/public/42"))).status);
    }
    return statuses;
  };
  expect(new Set(await draw())).toEqual(new Set([200]));
  roadbook.setFaults(["profile:status=503,rate=0.5"], 7);
  const first = await draw();
  expect(new Set(first)).toEqual(new Set([200, 503]));
  roadbook.setFaults(["profile:status=503,rate=0.5"], 7);
  expect(await draw()).toEqual(first);
  for (const times of [1, 2]) {
    roadbook.setFaults([`profile:status=503,times=${times}`, "search:status=500,times=9"]);
    const failed = new Array(times).fill(503);
    expect(await draw()).toEqual([...failed, ...new Array(20 - times).fill(200)]);
  }
  expect(() => roadbook.setFaults(["search:status=200"])).toThrow('got "search:status=200"');
  roadbook.setFaults([]);
  expect(new Set(await draw())).toEqual(new Set([200]));
  await using fixed = await createRoadbook({ dataset: community });
  expect(() => fixed.setFaults([])).toThrow("setFaults needs the option faults");
});

test("a delayed response is correct", async () => {
  await withFaults(["profile:delay=60ms,jitter=20ms", "profile:delay=30ms"], async (ask) => {
    const start = performance.now();
    const response = await ask("/users/public/42");
    // The delays add up to at least 70 ms, and each timer may fire a millisecond early.
    expect(performance.now() - start).toBeGreaterThan(68);
    expect(await response.text()).toContain("Łukasz Nowak");
  });
});

test("a closed connection gets no bytes, and the server keeps running", async () => {
  await using roadbook = await createRoadbook({ dataset: community, faults: ["profile:close"] });
  const { url } = await roadbook.listen();
  expect(await bytesOf(url, "GET /users/public/42 HTTP/1.1\r\nhost: a\r\n\r\n")).toBe("");
  expect((await fetch(`${url}/users/public/42`, { method: "HEAD" })).status).toBe(500);
  await expect(fetch(`${url}/users/public/42`)).rejects.toThrow();
  expect((await fetch(`${url}/users/42/achievements`)).status).toBe(200);
});

test("with fetch, a closed connection becomes a response whose body fails", async () => {
  await withFaults(["*:close"], async (ask) => {
    const response = await ask("/users/public/42");
    await expect(response.text()).rejects.toBeUndefined();
  });
});

/** Sends a request and returns all text until the server closes the connection. */
function bytesOf(url: string, request: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(request));
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(text));
  return promise;
}
