/** The table of routes is what clients see: paths, caching, the limit, and one name each. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pageAssets } from "../../src/assets.ts";
import { parseLine } from "../../src/domain/dataset.ts";
import { pathsOf, type Route, routesWith } from "../../src/http/routes.ts";
import { user } from "../datasets.ts";
import { community, openInProcess, type Target } from "../support.ts";

const cacheControl: Record<Route["cache"], string> = {
  public: "public, max-age=60",
  private: "private, max-age=60",
  page: "private, no-cache",
  immutable: "public, max-age=31536000, immutable",
  hour: "public, max-age=3600",
  none: "no-store",
};

const routes = routesWith({ page: {} });
const { script } = await pageAssets();
const files: Record<string, string> = {
  getAvatar: "42.svg",
  getIcon: "night-owl.svg",
  getPageAsset: script.file,
};

/** The path with parameters for which there is something. */
function fill(path: string, name: string): string {
  return path.replace(/:(?:user|driver)Id/, "42").replace(":file", files[name] ?? "");
}

let target: Target;
beforeAll(async () => {
  target = await openInProcess({
    dataset: community,
    searchLimit: 100,
    cacheMaxAgeSeconds: 60,
    page: {},
    pageAssets,
  });
});
afterAll(() => target.close());

describe.each(routes.map((route) => [route.name, route] as const))("%s", (_, route) => {
  const requests = pathsOf(route).map((path) => `${fill(path, route.name)}?q=ann`);

  test.each(requests)("%s is cached and counted as the table says", async (path) => {
    const { status, headers } = await target.fetch(path);
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe(cacheControl[route.cache]);
    expect(headers.has("ratelimit")).toBe(route.limited ?? false);
    expect(headers.has("etag")).toBe(route.cache !== "none");
  });

  test("is under /api when the table says so, and under no other prefix", async () => {
    const path = fill(route.path, route.name);
    const { status } = await target.fetch(`/api${path}?q=ann`);
    expect(status).toBe(route.api ? 200 : 404);
    expect((await target.fetch(`/v2${path}`)).status).toBe(404);
  });
});

test("no route with data is an avatar's path, as a reader's browser would ask for it", () => {
  const drawn = [
    "getAvatar",
    "getIcon",
    "getFavicon",
    "getRobots",
    "getPageAsset",
    "getDriverPage",
  ];
  for (const route of routes) {
    for (const path of pathsOf(route)) {
      const avatar_url = fill(path, route.name);
      const line = parseLine(JSON.stringify({ ...user(1, "Ann"), avatar_url }));
      expect([avatar_url, Array.isArray(line)]).toEqual([avatar_url, !drawn.includes(route.name)]);
    }
  }
});

test("no two routes have a name or a path in common", () => {
  const names = routes.map(({ name }) => name);
  const paths = routes.flatMap(pathsOf);
  expect([new Set(names).size, new Set(paths).size]).toEqual([names.length, paths.length]);
});

test("the document has the documented routes under their names", async () => {
  const document = JSON.parse(await (await target.fetch("/docs/json")).text());
  const described = Object.entries<{ get: { operationId: string } }>(document.paths);
  expect(Object.fromEntries(described.map(([path, { get }]) => [get.operationId, path]))).toEqual(
    Object.fromEntries(
      routes
        .filter(({ operation }) => operation)
        .map(({ name, path }) => [name, path.replace(":userId", "{userId}")]),
    ),
  );
});

test("without the page, the start leads to the docs", async () => {
  const bare = await openInProcess({ dataset: community });
  const { status, headers } = await bare.fetch("/");
  expect([status, headers.get("location")]).toEqual([302, "/docs"]);
  expect((await bare.fetch("/drivers/42")).status).toBe(404);
  await bare.close();
});

test.each([false, true])(
  "no search engine lists the API, nor the pages unless they may: %p",
  async (isIndexed) => {
    const site = await openInProcess({ dataset: community, page: { isIndexed }, pageAssets });
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
      expect(await tagOf(path)).toBe(isIndexed ? null : "noindex");
    await site.close();
  },
);
