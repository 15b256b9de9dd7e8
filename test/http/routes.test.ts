/** Every route: its path, prefix, caching, limit, and operation id in the OpenAPI document. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pageAssets } from "../../src/assets.ts";
import { community, openInProcess, type Target } from "../support.ts";

const { script } = await pageAssets();

const cacheControl = {
  public: "public, max-age=60",
  private: "private, max-age=60",
  immutable: "public, max-age=31536000, immutable",
  none: "no-store",
};

interface Expected {
  cache: keyof typeof cacheControl;
  /** Missing if the route is not in the document. */
  operationId?: string;
  isUnderApi?: true;
  isLimited?: true;
}

/** One existing path for each route. */
const routes: Record<string, Expected> = {
  "/users/public/42": { operationId: "getPublicUser", cache: "public", isUnderApi: true },
  "/users/42/achievements": {
    operationId: "listUserAchievements",
    cache: "public",
    isUnderApi: true,
  },
  "/search/companies": {
    operationId: "searchCompanies",
    cache: "private",
    isUnderApi: true,
    isLimited: true,
  },
  "/search/users": {
    operationId: "searchUsers",
    cache: "private",
    isUnderApi: true,
    isLimited: true,
  },
  "/health": { operationId: "getHealth", cache: "none" },
  "/docs": { cache: "public" },
  "/docs/json": { cache: "public" },
  "/docs/scalar.js": { cache: "public" },
  "/avatars/42.svg": { cache: "public" },
  "/icons/night-owl.svg": { cache: "public" },
  "/favicon.svg": { cache: "public" },
  "/sign.png": { cache: "public" },
  "/robots.txt": { cache: "public" },
  // Every path is requested with a query, so this is a page of results.
  "/": { cache: "private", isLimited: true },
  "/drivers/42": { cache: "private" },
  [`/assets/${script.file}`]: { cache: "immutable" },
};

let target: Target;
beforeAll(async () => {
  target = await openInProcess({
    dataset: community,
    searchLimit: 100,
    cacheMaxAge: "60s",
    page: true,
  });
});
afterAll(() => target.close());

describe.each(Object.entries(routes))("%s", (path, { cache, isUnderApi = false, isLimited }) => {
  test.each(isUnderApi ? ["", "/api"] : [""])(
    "has the right caching and limit with prefix %p",
    async (prefix) => {
      const { status, headers } = await target.fetch(`${prefix}${path}?q=ann`);
      expect(status).toBe(200);
      expect(headers.get("cache-control")).toBe(cacheControl[cache]);
      expect(headers.has("ratelimit")).toBe(isLimited ?? false);
      expect(headers.has("etag")).toBe(cache !== "none");
    },
  );

  test("exists under /api if it is an endpoint, and under no other prefix", async () => {
    const { status } = await target.fetch(`/api${path}?q=ann`);
    expect(status).toBe(isUnderApi ? 200 : 404);
    expect((await target.fetch(`/v2${path}`)).status).toBe(404);
  });
});

test("the document has all documented routes with their operation ids", async () => {
  const document = JSON.parse(await (await target.fetch("/docs/json")).text());
  const described = Object.entries<{ get: { operationId: string } }>(document.paths);
  expect(Object.fromEntries(described.map(([path, { get }]) => [get.operationId, path]))).toEqual(
    Object.fromEntries(
      Object.entries(routes)
        .filter(([, { operationId }]) => operationId)
        .map(([path, { operationId }]) => [operationId, path.replace("42", "{userId}")]),
    ),
  );
});

test("without the page, / redirects to /docs", async () => {
  const bare = await openInProcess({ dataset: community });
  const { status, headers } = await bare.fetch("/");
  expect([status, headers.get("location")]).toEqual([302, "/docs"]);
  expect((await bare.fetch("/drivers/42")).status).toBe(404);
  await bare.close();
});

test.each([false, true])(
  "with allowIndexing: %p, search engines may never list the API, and pages only if allowed",
  async (index) => {
    const site = await openInProcess({
      dataset: community,
      page: true,
      allowIndexing: index,
    });
    const tagOf = async (path: string) => (await site.fetch(path)).headers.get("x-robots-tag");
    for (const path of [
      "/users/public/42",
      "/users/public/43",
      "/search/users?q=ann",
      "/health",
      "/nope",
      "/docs/json",
    ])
      expect(await tagOf(path)).toBe("noindex");
    for (const path of ["/", "/?q=ann", "/drivers/42", "/docs"])
      expect(await tagOf(path)).toBe(index ? null : "noindex");
    await site.close();
  },
);
