/** The Elysia app mounted in another app, and its types as seen by Eden. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { treaty } from "@elysiajs/eden";
import { Elysia, status } from "elysia";
import { createRoadbook } from "../../src/elysia.ts";
import { fixture } from "../support.ts";

const open = () => createRoadbook({ dataset: fixture, searchLimit: 2, page: true });
const mount = (app: Awaited<ReturnType<typeof open>>["app"]) =>
  new Elysia({ strictPath: true })
    .onAfterHandle(({ set }) => {
      set.headers["x-host"] = "yes";
    })
    .onError(() => {})
    .get("/hello", () => "hello")
    .use(app);

describe("in another app", () => {
  let roadbook: Awaited<ReturnType<typeof open>>;
  let host: ReturnType<typeof mount>;
  let origin = "";
  beforeAll(async () => {
    roadbook = await open();
    host = mount(roadbook.app).listen({ port: 0, hostname: "127.0.0.1" });
    origin = `http://127.0.0.1:${host.server?.port}`;
  });
  afterAll(async () => {
    await host.stop(true);
    await roadbook.close();
  });

  test("the API responds with its own validators and errors, and the host's hooks run", async () => {
    const url = `${origin}/api/users/public/42`;
    const response = await fetch(url);
    expect([response.status, response.headers.get("x-host")]).toEqual([200, "yes"]);
    const etag = response.headers.get("etag") ?? "";
    const again = await fetch(url, { headers: { "if-none-match": etag } });
    expect([again.status, again.headers.get("etag")]).toEqual([304, etag]);
    expect(await (await fetch(`${origin}/users/public/43`)).json()).toMatchObject({
      error: { code: "profile_private" },
    });
    const invalid = await fetch(`${origin}/users/public/x`);
    expect([invalid.status, (await invalid.json()).error.code]).toEqual([400, "invalid_user_id"]);
  });

  test("the host's own routes and its 404 are unchanged", async () => {
    const hello = await fetch(`${origin}/hello`);
    expect(await hello.text()).toBe("hello");
    expect(hello.headers.has("x-request-id")).toBe(false);
    expect(await (await fetch(`${origin}/nope`)).text()).toBe("NOT_FOUND");
  });

  test("searches are counted by the address that the host's server reports", async () => {
    const statuses: number[] = [];
    for (let times = 0; times < 3; times++) {
      statuses.push((await fetch(`${origin}/search/users?q=ann`)).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });
});

test("every route knows the peer that the host's server reports, and a trusted proxy's headers", async () => {
  const seen: string[] = [];
  await using roadbook = await createRoadbook({
    dataset: fixture,
    page: true,
    defaultPeer: "192.0.2.1",
    trustedProxies: ["127.0.0.1"],
    onResponse: ({ requestId, client }) => seen.push(`${requestId} ${client()}`),
  });
  // The same app in two hosts: each asks its own server.
  const hosts = [roadbook.app, roadbook.app].map((app) => {
    return new Elysia().use(app).listen({ port: 0, hostname: "127.0.0.1" });
  });

  const paths = [
    "/users/public/45",
    "/search/users?q=ann",
    "/drivers/45",
    "/health",
    "/users/public/x",
  ];
  for (const { server } of hosts) {
    for (const [at, path] of paths.entries()) {
      const headers = {
        "x-forwarded-for": `198.51.100.${at}`,
        "x-forwarded-proto": "https",
        "x-forwarded-host": "rb.example",
        "x-request-id": `from-proxy-${at}`,
      };
      const text = await (
        await fetch(`http://127.0.0.1:${server?.port}${path}`, { headers })
      ).text();
      expect(text).not.toContain("127.0.0.1");
      if (at < 3) expect(text).toContain("https://rb.example/avatars/");
    }
  }
  const expected = paths.map((_, at) => `from-proxy-${at} 198.51.100.${at}`);
  expect(seen).toEqual([...expected, ...expected]);

  // Without a server, nobody reports a peer.
  await roadbook.app.handle(new Request("http://roadbook.test/health"));
  expect(seen.at(-1)).toEndWith(" 192.0.2.1");
  for (const host of hosts) await host.stop(true);
});

test.each(["/rb", ""])(
  "faults and facts ignore a host's prefix, with basePath %j",
  async (basePath) => {
    const routes: unknown[] = [];
    await using roadbook = await createRoadbook({
      dataset: fixture,
      basePath,
      faults: ["achievements:status=503"],
      onResponse: ({ route }) => routes.push(route),
    });
    const host = new Elysia({ prefix: "/rb" }).use(roadbook.app);
    const get = (path: string) => host.handle(new Request(`http://roadbook.test${path}`));
    expect((await get("/rb/api/users/public/42")).status).toBe(200);
    expect((await get("/rb/users/42/achievements")).status).toBe(503);
    expect((await get("/users/public/42")).status).toBe(404);
    expect((await get("/rb/nope")).status).toBe(404);
    expect(routes).toEqual(["/users/public/:userId", "/users/:userId/achievements", undefined]);
  },
);

test.each(["group", "mount", "use"])(
  "with %s, unknown paths below a prefix get our 404",
  async (way) => {
    const basePath = way === "use" ? "" : "/rb";
    await using roadbook = await createRoadbook({ dataset: fixture, basePath });
    for (const strictPath of [true, false]) {
      const host = new Elysia({ strictPath });
      if (way === "use") host.use(roadbook.app);
      else if (way === "mount") host.mount(basePath, roadbook.fetch);
      else host.group(basePath, (group) => group.use(roadbook.app));
      const get = (path: string) => host.handle(new Request(`http://roadbook.test${path}`));
      const text = await (await get(`${basePath}/users/nope`)).text();
      expect(text).toContain(basePath ? "route_not_found" : "NOT_FOUND");
      expect(await (await get("/nope")).text()).toBe("NOT_FOUND");
    }
  },
);

test("a response of the host's own error handler is sent as it is", async () => {
  await using roadbook = await open();
  const refuse = () => new Response("no such thing", { status: 418 });
  const host = new Elysia().onError(refuse).use(roadbook.app);
  for (const path of ["/users/public/x", "/icons/nothing.svg"]) {
    const response = await host.handle(new Request(`http://roadbook.test${path}`));
    expect([response.status, await response.text()]).toEqual([418, "no such thing"]);
  }
});

test.each(["before", "after"])(
  "a host's error handler set %s the app never replaces an error of the API",
  async (order) => {
    const roadbook = await createRoadbook({
      dataset: fixture,
      searchLimit: 1,
      defaultPeer: "192.0.2.1",
      faults: ["health:status=503"],
    });
    const host = new Elysia();
    const handleErrors = () => host.onError(() => "the host's own");
    if (order === "before") handleErrors();
    host.use(roadbook.app);
    if (order === "after") handleErrors();
    const read = async (path: string) => {
      const response = await host.handle(new Request(`http://roadbook.test${path}`));
      return { status: response.status, code: (await response.json()).error?.code, response };
    };

    expect(await read("/users/public/43")).toMatchObject({ status: 403, code: "profile_private" });
    expect(await read("/users/99/achievements")).toMatchObject({
      status: 404,
      code: "user_not_found",
    });
    expect(await read("/avatars/43.svg")).toMatchObject({ status: 403, code: "profile_private" });
    expect(await read("/health")).toMatchObject({ status: 503, code: "unavailable" });
    expect((await read("/search/users?q=ann")).status).toBe(200);
    for (const query of ["q=ann", "q="]) {
      const refused = await read(`/search/users?${query}`);
      expect(refused).toMatchObject({ status: 429, code: "rate_limited" });
      expect(refused.response.headers.get("retry-after")).toBe("3600");
      expect(refused.response.headers.get("x-ratelimit-remaining")).toBe("0");
    }
    await roadbook.close();
    const unavailable = { status: 503, code: "unavailable" };
    for (const path of ["/users/public/42", "/search/users?q=", "/robots.txt"]) {
      expect(await read(path)).toMatchObject(unavailable);
    }
    // Invalid ids still go to a handler that was set before.
    const { status, code } = await read("/users/public/x");
    expect({ status, code }).toEqual(
      order === "after" ? unavailable : { status: 422, code: undefined },
    );
  },
);

test("a status that a host's hook throws is sent", async () => {
  await using roadbook = await open();
  const host = new Elysia().use(roadbook.app);
  const refusing = new Elysia()
    .onBeforeHandle(() => {
      throw status(401, { reason: "no token" });
    })
    .use(roadbook.app);
  const request = () => new Request("http://roadbook.test/users/public/42");
  expect((await host.handle(request())).status).toBe(200);
  const refused = await refusing.handle(request());
  expect([refused.status, await refused.json()]).toEqual([401, { reason: "no token" }]);
});

test("a text of the host's own error handler becomes JSON", async () => {
  await using roadbook = await open();
  const host = new Elysia().onError(() => 'no "x" here').use(roadbook.app);
  const response = await host.handle(new Request("http://roadbook.test/users/public/x"));
  expect(await response.json()).toBe('no "x" here');
});

test("Eden infers the types of bodies and errors", async () => {
  await using roadbook = await open();
  const api = treaty(roadbook.app);
  const { data, error } = await api.users.public({ userId: 42 }).get();
  if (error) throw error.value;
  const name: string = data.user.name;
  const role: number | undefined = data.user.roles[0]?.hierarchy;
  expect([name, role]).toEqual(["Łukasz Nowak", 50]);
  const missing = await api.users.public({ userId: 43 }).get();
  const code: string | undefined = missing.error?.value.error.code;
  expect([missing.status, code]).toEqual([403, "profile_private"]);
  const { error: short } = await api.search.users.get({ query: { q: "a" } });
  expect(short?.value.error.code).toBe("invalid_query");

  await using refusing = await createRoadbook({
    dataset: fixture,
    searchLimit: 1,
    defaultPeer: "192.0.2.1",
  });
  const { companies } = treaty(refusing.app).search;
  const search = () => companies.get({ query: { q: "express" } });
  await search();
  const { error: limited } = await search();
  if (limited?.status !== 429) throw new Error("the second search was not refused");
  const seconds: number | undefined = limited.value.error.retry_after;
  expect(seconds).toBe(3600);
  // These lines compile only if each route has all its errors, and no others but Elysia's 422.
  const ofSearch: Record<StatusIn<typeof search>, true> = {
    400: true,
    422: true,
    429: true,
    500: true,
    503: true,
  };
  const profile = () => api.users.public({ userId: 42 }).get();
  const ofProfile: Record<StatusIn<typeof profile>, true> = {
    400: true,
    403: true,
    404: true,
    422: true,
    500: true,
    503: true,
  };
  expect(Object.keys({ ...ofSearch, ...ofProfile })).toHaveLength(7);
});

/** The statuses of the errors that a request can have, by its type. */
type StatusIn<Ask extends () => Promise<{ error: unknown }>> =
  NonNullable<Awaited<ReturnType<Ask>>["error"]> extends { status: infer Status extends number }
    ? Status
    : never;
