/** Every route: its path, prefix, caching and limit. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import crypto from "node:crypto";
import { createRoadbook } from "../../src/elysia.ts";
import { pageAssets } from "../../src/web/assets.ts";
import { fixture, openInProcess, type Target } from "../support.ts";

const { script } = await pageAssets();
const scriptFile = `page-${crypto.hash("sha256", script).slice(0, 12)}.js`;

const cacheControl = {
  public: "public, max-age=60",
  private: "private, max-age=60",
  immutable: "public, max-age=31536000, immutable",
  none: "no-store",
};

/** One existing path for each route. */
const endpoints: Record<string, keyof typeof cacheControl> = {
  "/users/public/42": "public",
  "/users/42/achievements": "public",
  "/search/companies": "private",
  "/search/users": "private",
};
const others: Record<string, keyof typeof cacheControl> = {
  "/health": "none",
  "/docs": "public",
  "/docs/json": "public",
  "/docs/scalar.js": "public",
  "/avatars/42.svg": "public",
  "/icons/night-owl.svg": "public",
  "/favicon.svg": "public",
  "/robots.txt": "public",
  // Every path is requested with a query, so this is a page of results.
  "/": "private",
  "/drivers/42": "private",
  "/companies/3": "private",
  [`/assets/${scriptFile}`]: "immutable",
};
const limited = /^\/search\/|^\/$/;

let target: Target;
beforeAll(async () => {
  const options = { dataset: fixture, searchLimit: 100, cacheMaxAge: "60s", page: true };
  target = await openInProcess(options);
});
afterAll(() => target.close());

test.each(Object.entries({ ...endpoints, ...others }))(
  "%s has the right caching and limit, and exists under /api if it is an endpoint",
  async (path, cache) => {
    for (const prefix of path in endpoints ? ["", "/api"] : [""]) {
      const { status, headers } = await target.fetch(`${prefix}${path}?q=ann`);
      expect(status).toBe(200);
      expect(headers.get("cache-control")).toBe(cacheControl[cache]);
      expect(headers.has("ratelimit")).toBe(limited.test(path));
      expect(headers.has("etag")).toBe(cache !== "none");
    }
    const wrong = path in endpoints ? "/v2" : "/api";
    expect((await target.fetch(`${wrong}${path}?q=ann`)).status).toBe(404);
  },
);

test("every handler and hook that returns a promise is async, so Elysia does not have to guess", async () => {
  await using roadbook = await createRoadbook({
    dataset: fixture,
    page: true,
    allowIndexing: true,
    faults: [],
    defaultPeer: "192.0.2.1",
    onBug: () => {},
  });
  const files = ["42.svg", "night-owl.svg", scriptFile];
  const promising = new Set<string>();
  const guessed = new Set<string>();
  for (const { path, handler, hooks } of roadbook.app.routes) {
    const { transform, afterHandle, error, mapResponse } = hooks;
    const hooked = [transform, afterHandle, error, mapResponse].flat();
    const functions = [handler, ...hooked.map((hook) => hook?.fn)].filter(
      (each) => typeof each === "function",
    );
    for (const file of path.includes(":file") ? files : [""]) {
      const params = { userId: "42", driverId: "42", companyId: "3", file };
      const request = new Request("http://roadbook.test/?q=ann");
      const context = { request, path, route: path, params, query: { q: "ann" } };
      for (const each of functions) {
        if (!(await returnsPromise(() => each(context)))) continue;
        promising.add(path);
        if (each.constructor.name !== "AsyncFunction") guessed.add(path);
      }
    }
  }
  expect([...guessed]).toEqual([]);
  const known = ["/sitemap.xml", "/docs", "/search/users", "/"];
  expect([...promising]).toEqual(expect.arrayContaining(known));
});

/** Ignores what the function throws. */
async function returnsPromise(call: () => unknown): Promise<boolean> {
  try {
    const returned = call();
    if (!(returned instanceof Promise)) return false;
    await returned.catch(() => {});
    return true;
  } catch {
    return false;
  }
}

/** The policy of pages allows images from anywhere, because a dataset's avatars may be anywhere. */
const pagePolicy = (more: string) =>
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: http:; " +
  `form-action 'self'; base-uri 'none'; frame-ancestors 'none'${more}`;

test.each([false, true])(
  "with kiosk: %p, every page and drawing has exactly its content security policy",
  async (kiosk) => {
    const site = await openInProcess({ dataset: fixture, page: true, kiosk });
    for (const path of ["/", "/?q=ann", "/?q=a", "/drivers/42", "/companies/3", "/nope"]) {
      const response = await site.fetch(path, { headers: { accept: "text/html" } });
      const [, script = ""] = /<script>(.*?)<\/script>/s.exec(await response.text()) ?? [];
      const hash = crypto.hash("sha256", script, "base64");
      const more = `; connect-src 'self'; script-src-elem 'self' 'sha256-${hash}'`;
      const policy = pagePolicy(kiosk ? more : "");
      expect([path, script !== ""]).toEqual([path, kiosk]);
      expect(response.headers.get("content-security-policy")).toBe(policy);
    }
    for (const path of ["/avatars/42.svg", "/icons/night-owl.svg", "/favicon.svg"]) {
      const { headers } = await site.fetch(path);
      const policy = "default-src 'none'; frame-ancestors 'none'";
      expect([path, headers.get("content-security-policy")]).toEqual([path, policy]);
    }
    await site.close();
  },
);

test.each(["", "/rb"])("without the page, %s/ redirects to the docs", async (basePath) => {
  const bare = await openInProcess({ dataset: fixture, basePath });
  const { status, headers } = await bare.fetch(`${basePath}/`);
  expect([status, headers.get("location")]).toEqual([302, `${basePath}/docs`]);
  await bare.close();
});

test.each(["", "/a"])("with the base path %p, unknown paths in /api are JSON", async (basePath) => {
  const site = await openInProcess({ dataset: fixture, page: true, basePath });
  const typeOf = async (path: string) =>
    (await site.fetch(path, { headers: { accept: "text/html" } })).headers.get("content-type");
  expect(await typeOf("/api/nope")).toBe("application/json; charset=utf-8");
  expect(await typeOf(`${basePath}/nope`)).toBe("text/html; charset=utf-8");
  await site.close();
});

test.each([false, true])(
  "with allowIndexing: %p, search engines may never list the API, and pages only if allowed",
  async (index) => {
    const options = { dataset: fixture, page: true, allowIndexing: index };
    const site = await openInProcess(options);
    const tagOf = async (path: string, headers = {}) =>
      (await site.fetch(path, { headers })).headers.get("x-robots-tag");
    const html = { accept: "text/html" };
    for (const path of ["/users/public/42", "/users/public/43", "/search/users?q=ann", "/nope"])
      expect(await tagOf(path)).toBe("noindex");
    for (const path of ["/drivers/43", "/nope"]) expect(await tagOf(path, html)).toBe("noindex");
    for (const path of ["/", "/?q=ann", "/?q=a", "/drivers/42", "/docs"]) {
      expect(await tagOf(path, html)).toBe(index ? null : "noindex");
      expect(await tagOf(path, { ...html, "if-none-match": "*" })).toBe(index ? null : "noindex");
    }
    await site.close();
  },
);

const page = { headers: { accept: "text/html" } };
const kinds: [kind: string, path: string, status: number, init?: RequestInit][] = [
  ["a body", "/users/public/42", 200],
  ["a body that the client has", "/users/public/42", 304, { headers: { "if-none-match": "*" } }],
  ["a HEAD", "/api/users/42/achievements", 200, { method: "HEAD" }],
  ["health", "/health", 200],
  ["an invalid id", "/users/public/x", 400],
  ["a private profile", "/users/public/43", 403],
  ["an unknown user", "/users/public/1", 404],
  ["an unknown path", "/nope", 404],
  ["a page of an unknown path", "/nope", 404, page],
  ["a method", "/users/public/42", 405, { method: "POST" }],
  ["a preflight", "/users/public/42", 204, { method: "OPTIONS" }],
  ["a search", "/search/users?q=ann", 200],
  ["a refused search", "/search/users?q=ann", 429],
  ["a refused page", "/?q=ann", 429, page],
  ["a page", "/", 200, page],
  ["a driver", "/drivers/42", 200, page],
  ["a private driver", "/drivers/43", 403, page],
  ["a script", `/assets/${scriptFile}`, 200],
  ["a drawing", "/avatars/42.svg", 200],
  ["a badge", "/icons/night-owl.svg", 200],
  ["the docs", "/docs", 200],
  ["the document", "/docs/json", 200],
  ["the script of the docs", "/docs/scalar.js", 200],
  ["the sitemap", "/sitemap.xml", 200],
  ["the file for robots", "/robots.txt", 200],
  ["a fault", "/users/45/achievements", 503],
];

test("every kind of response has the headers that all have", async () => {
  const options = { dataset: fixture, page: true, allowIndexing: true, searchLimit: 1 };
  const faults = ["achievements/45:status=503"];
  await using roadbook = await createRoadbook({ ...options, faults });
  const headersOf = async (path: string, init?: RequestInit) => {
    const request = new Request(`http://roadbook.test${path}`, init);
    const { status, headers } = await roadbook.fetch(request, "192.0.2.1");
    return [
      status,
      headers.get("x-content-type-options"),
      headers.get("access-control-allow-origin"),
      headers.get("x-api-version"),
      headers.get("x-request-id"),
    ];
  };
  const common = ["nosniff", "*", "v2.1.0", expect.any(String)];
  for (const [kind, path, status, init] of kinds) {
    expect([kind, ...(await headersOf(path, init))]).toEqual([kind, status, ...common]);
  }
  await roadbook.close();
  expect(await headersOf("/users/public/42")).toEqual([503, ...common]);

  await using bare = await createRoadbook({ dataset: fixture });
  const { headers } = await bare.fetch(new Request("http://roadbook.test/"));
  expect([headers.get("location"), headers.get("x-content-type-options")]).toEqual([
    "/docs",
    "nosniff",
  ]);
});

test.each([
  [false, "accept, accept-encoding, accept-language"],
  [true, "accept, accept-encoding, accept-language, cookie"],
])("with kiosk: %p, a cache keeps a page for each %s", async (kiosk, vary) => {
  const site = await openInProcess({ dataset: fixture, page: true, kiosk });
  for (const path of ["/", "/?q=ann", "/drivers/42", "/companies/3", "/nope"]) {
    const { headers } = await site.fetch(path, page);
    expect([path, headers.get("vary")]).toEqual([path, vary]);
  }
  await site.close();
});
