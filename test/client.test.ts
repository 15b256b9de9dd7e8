/** The typed client: requests, results, errors, and agreement with the OpenAPI document. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Client, createClient, RoadbookError } from "../src/client.ts";
import {
  AchievementEntry,
  CompanySearchResult,
  User,
  UserSearchResult,
} from "../src/domain/model.ts";
import { community, openInProcess, type Target } from "./support.ts";

type Returned<Name extends keyof Client> = Awaited<ReturnType<Client[Name]>>;
type Same<One, Other> = [One, Other] extends [Other, One] ? true : never;

/** Each call's documented response: its field, its schema's name, and whether it is a list. */
const calls = {
  getPublicUser: { field: "user", name: "User", isList: false, schema: User },
  listUserAchievements: {
    field: "achievements",
    name: "AchievementEntry",
    isList: true,
    schema: Type.Array(AchievementEntry),
  },
  searchCompanies: {
    field: "companies",
    name: "CompanySearchResult",
    isList: true,
    schema: Type.Array(CompanySearchResult),
  },
  searchUsers: {
    field: "users",
    name: "UserSearchResult",
    isList: true,
    schema: Type.Array(UserSearchResult),
  },
} satisfies Record<keyof Client, { field: string; name: string; isList: boolean; schema: TSchema }>;

/** Compiles only if each call returns exactly the type of its schema. */
const typesAgree: {
  [Name in keyof Client]: Same<Returned<Name>, Static<(typeof calls)[Name]["schema"]>>;
} = { getPublicUser: true, listUserAchievements: true, searchCompanies: true, searchUsers: true };

let target: Target;
let server: Bun.Server<undefined>;
let limited: Target;
beforeAll(async () => {
  target = await openInProcess({ dataset: community });
  limited = await openInProcess({ dataset: community, searchLimit: 1, searchWindow: "1s" });
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    // Imitates path prefixes, and proxies that send their own responses.
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const [, prefix = "", ...rest] = pathname.split("/");
      const path = `/${rest.join("/")}${search}`;
      if (prefix === "api") return target.fetch(pathname + search, request);
      if (prefix === "deep" && rest[0] === "er") return target.fetch(path.slice(3), request);
      if (prefix === "limited") return limited.fetch(path, request);
      if (prefix === "html") {
        const headers = { "retry-after": "0", "content-type": "text/html" };
        return new Response("<h1>Bad gateway</h1>", { status: 502, headers });
      }
      if (prefix === "page") return new Response("<h1>Welcome</h1>");
      if (prefix === "other") return Response.json({ success: true, user: {} });
      if (prefix === "date") {
        const headers = { "retry-after": new Date(Date.now() + 90_500).toUTCString() };
        return new Response("", { status: 503, headers });
      }
      return target.fetch(pathname + search, request);
    },
  });
});
afterAll(async () => {
  await server.stop(true);
  await target.close();
  await limited.close();
});

const at = (path = "") => createClient(`http://127.0.0.1:${server.port}${path}`);

/** Returns the error that a call rejects with. */
async function failureOf(call: Promise<unknown>): Promise<RoadbookError> {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(error instanceof RoadbookError)) throw new Error(`not a RoadbookError: ${error}`);
  return error;
}

describe("the client and the OpenAPI document", () => {
  interface Operation {
    operationId: string;
    responses: Record<number, { content: { "application/json": { schema: object } } }>;
  }

  test("have the same operations, except for health", async () => {
    const { paths } = JSON.parse(await (await target.fetch("/docs/json")).text());
    const operations = Object.values<{ get: Operation }>(paths).map(({ get }) => get);
    const names = operations.map(({ operationId }) => operationId);
    expect(names.filter((name) => name !== "getHealth").sort()).toEqual(
      Object.keys(createClient("")).sort() as string[],
    );
    expect(Object.keys(calls).sort()).toEqual(Object.keys(typesAgree).sort());
    for (const [operationId, { field, name, isList }] of Object.entries(calls)) {
      const operation = operations.find((operation) => operation.operationId === operationId);
      const schema = operation?.responses[200]?.content["application/json"].schema;
      const reference = { $ref: `#/components/schemas/${name}` };
      expect(schema).toMatchObject({
        properties: { [field]: isList ? { type: "array", items: reference } : reference },
        required: ["success", field],
      });
    }
  });

  test("responses have the types that the client declares", async () => {
    const { searchUsers, searchCompanies, getPublicUser, listUserAchievements } = at();
    const values = {
      getPublicUser: await getPublicUser(42),
      listUserAchievements: await listUserAchievements(42),
      searchCompanies: await searchCompanies("ex"),
      searchUsers: await searchUsers("an"),
    };
    for (const [name, value] of Object.entries(values)) {
      const { schema } = calls[name as keyof Client];
      expect([name, ...Value.Errors(schema, value)].slice(1)).toEqual([]);
    }
    expect(values.getPublicUser.name).toBe("Łukasz Nowak");
    expect(values.searchCompanies.length).toBeGreaterThan(0);
    expect(values.searchUsers.length).toBeGreaterThan(0);
    expect(values.listUserAchievements.length).toBeGreaterThan(0);
  });
});

test.each(["", "/", "/api", "/api//", "/deep/er", "/deep/er/"])(
  "a base URL may end in %p",
  async (path) => {
    expect((await at(path).getPublicUser(42)).id).toBe(42);
    expect((await at(path).searchUsers("łukasz nowak"))[0]?.id).toBe(42);
  },
);

test("a base URL with a query or a fragment is a TypeError", () => {
  expect(() => createClient("http://127.0.0.1/?a=1")).toThrow(TypeError);
  expect(() => createClient("http://127.0.0.1/#a")).toThrow(TypeError);
});

test.each(["Łukasz Nowak", "a&b=c#d+e%41/?", "田中🚛", "\ud800x", "  a  "])(
  "the query %p arrives unchanged",
  async (q) => {
    let sent = "";
    const client = createClient("http://roadbook.test", {
      fetch: async (url) => {
        sent = url;
        return Response.json({ success: true, users: [] });
      },
    });
    expect(await client.searchUsers(q)).toEqual([]);
    const { pathname, searchParams } = new URL(sent);
    expect([pathname, [...searchParams]]).toEqual(["/search/users", [["q", q.toWellFormed()]]]);
  },
);

describe("errors", () => {
  test.each([
    ["getPublicUser", 999_999, 404, "user_not_found"],
    ["getPublicUser", 43, 403, "profile_private"],
    ["listUserAchievements", 43, 403, "profile_private"],
    ["getPublicUser", 1e21, 400, "invalid_user_id"],
    ["getPublicUser", 0.5, 400, "invalid_user_id"],
    ["searchUsers", "x", 400, "invalid_query"],
    ["searchCompanies", "", 400, "invalid_query"],
  ] as const)("%s(%p) is a %d %s", async (name, argument, status, code) => {
    const client: Record<string, (argument: never) => Promise<unknown>> = { ...at() };
    const error = await failureOf(client[name]?.(argument as never) ?? Promise.resolve());
    expect(error).toMatchObject({ name: "RoadbookError", status, code });
    expect(error.message).toMatch(/\.$/);
    expect(error.requestId).toBeTruthy();
    expect(error.retryAfterSeconds).toBeUndefined();
  });

  test.each([
    ["/html", 502, "invalid_response", 0],
    ["/page", 200, "invalid_response", undefined],
    ["/other", 200, "invalid_response", undefined],
  ] as const)(
    "a reply without the API's JSON, %s, is a %d %s",
    async (path, status, code, seconds) => {
      const error = await failureOf(at(path).searchUsers("nowak", { retry: true }));
      expect(error).toMatchObject({ status, code });
      expect(error.retryAfterSeconds).toBe(seconds);
    },
  );

  test("an unreachable server is a network_error with its cause", async () => {
    const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") });
    const origin = gone.url.origin;
    await gone.stop(true);
    const error = await failureOf(createClient(origin).getPublicUser(42));
    expect(error).toMatchObject({ code: "network_error", status: undefined });
    expect(error.cause).toBeInstanceOf(Error);
  });

  test("a date in Retry-After is converted to seconds", async () => {
    const error = await failureOf(at("/date").getPublicUser(42));
    expect(error.retryAfterSeconds).toBeWithin(85, 92);
  });
});

describe("retries", () => {
  test("happen only if retry is set, and wait for Retry-After", async () => {
    const client = at("/limited");
    await client.searchUsers("nowak");
    const error = await failureOf(client.searchUsers("nowak"));
    expect(error).toMatchObject({ code: "rate_limited", status: 429 });
    expect(error.retryAfterSeconds).toBeWithin(1, 4);
    expect((await client.searchUsers("nowak", { retry: true }))[0]?.id).toBe(45);
    expect(
      await failureOf(client.searchUsers("nowak", { retry: 5, maxWaitSeconds: 0 })),
    ).toMatchObject({ code: "rate_limited" });
  });

  test.each([
    [false, 1],
    [0, 1],
    [2, 3],
    [true, 4],
    [1e9, 11],
    [Number.NaN, 1],
  ])("retry: %p sends at most %d requests", async (retry, times) => {
    let sent = 0;
    const client = createClient("http://roadbook.test", {
      retry,
      fetch: async () => {
        sent++;
        return new Response("", { status: 503, headers: { "retry-after": "0" } });
      },
    });
    await failureOf(client.getPublicUser(42, { retry: undefined }));
    expect(sent).toBe(times);
  });

  test("end with the reason of an aborted signal, as calls do", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const waiting = createClient("http://roadbook.test", {
      fetch: async () => {
        setTimeout(() => controller.abort(reason), 1);
        return new Response("", { status: 429, headers: { "retry-after": "3000" } });
      },
    }).searchUsers("nowak", { retry: true, signal: controller.signal });
    await expect(waiting).rejects.toBe(reason);
    await expect(at().getPublicUser(42, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
  });
});
