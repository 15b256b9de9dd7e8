/** A page from another origin, in a real browser, can read every response and header. */
import { expect, test } from "bun:test";
import { launchBrowser, tryBrowser } from "../browser.ts";
import { openExecutable } from "../support.ts";

if (!tryBrowser)
  console.warn("chromium is missing: cross-origin requests of a browser are not tested");

/** One response as the page's script sees it. */
interface SeenResponse {
  status?: number;
  body?: string;
  headers?: Record<string, string>;
  error?: string;
}

interface PageRequest {
  path: string;
  init?: { method?: string; headers?: Record<string, string> };
}

/** Runs in the page. Sends the requests one at a time and returns the responses. */
async function fetchAll({
  origin,
  requests,
}: {
  origin: string;
  requests: PageRequest[];
}): Promise<SeenResponse[]> {
  const seen: SeenResponse[] = [];
  for (const { path, init } of requests) {
    try {
      const headers = { ...init?.headers };
      if (headers["If-None-Match"] === "LAST") {
        headers["If-None-Match"] = seen.at(-1)?.headers?.etag ?? "";
      }
      const response = await fetch(origin + path, { ...init, headers, cache: "no-store" });
      seen.push({
        status: response.status,
        body: await response.text(),
        headers: Object.fromEntries(response.headers),
      });
    } catch (error) {
      seen.push({ error: String(error) });
    }
  }
  return seen;
}

/** Opens a page from another origin in a browser. The page sends the requests to `origin`. */
async function fetchFromAnotherSite(
  origin: string,
  requests: PageRequest[],
): Promise<SeenResponse[]> {
  const site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () =>
      new Response("<!doctype html><title>Another site</title>", {
        headers: { "content-type": "text/html; charset=utf-8" },
      }),
  });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(site.url.href);
    return await page.evaluate(fetchAll, { origin, requests });
  } finally {
    await browser.close();
    await site.stop(true);
  }
}

test.if(tryBrowser)(
  "a page from another origin can read responses, errors and every header it needs",
  async () => {
    const target = await openExecutable(["--search-limit", "2"]);
    const [profile, again, missing, search, short, refused, posted, head] =
      await fetchFromAnotherSite(target.origin, [
        { path: "/users/public/42" },
        { path: "/users/public/42", init: { headers: { "If-None-Match": "LAST", "X-Mine": "1" } } },
        { path: "/users/public/999999" },
        { path: "/search/users?q=an" },
        { path: "/api/search/companies?q=x" },
        { path: "/search/users?q=an" },
        { path: "/users/public/42", init: { method: "POST", headers: { "X-Mine": "1" } } },
        { path: "/users/42/achievements", init: { method: "HEAD" } },
      ]);
    const etag = profile?.headers?.etag ?? "";
    expect(profile).toMatchObject({ status: 200, body: expect.stringContaining("Łukasz Nowak") });
    expect(profile?.headers).toMatchObject({
      etag: expect.stringMatching(/^"/),
      "x-request-id": expect.stringMatching(/^[\da-f-]{36}$/),
      "x-api-version": "v2.1.0",
    });
    expect(again).toMatchObject({ status: 304, body: "", headers: { etag } });
    expect(missing).toMatchObject({
      status: 404,
      body: expect.stringContaining('"code":"user_not_found"'),
    });
    expect(missing?.headers).toHaveProperty("x-request-id");
    const limit = {
      ratelimit: expect.stringMatching(/^"search";r=\d;t=\d+$/),
      "ratelimit-policy": '"search";q=2;w=3600',
      "x-ratelimit-limit": "2",
      "x-ratelimit-remaining": expect.stringMatching(/^\d$/),
      "x-ratelimit-reset": expect.stringMatching(/^\d+$/),
    };
    expect(search).toMatchObject({ status: 200, headers: limit });
    expect(short).toMatchObject({ status: 400, headers: limit });
    expect(refused).toMatchObject({
      status: 429,
      headers: { ...limit, "retry-after": expect.stringMatching(/^\d+$/) },
    });
    expect(posted).toMatchObject({
      status: 405,
      body: expect.stringContaining('"code":"method_not_allowed"'),
    });
    expect(head).toMatchObject({ status: 200, body: "" });
    await target.close();
  },
  60_000,
);

test("a preflight succeeds for every path and header, and is cached for a day", async () => {
  const target = await openExecutable([]);
  for (const path of ["/users/public/42", "/api/search/users?q=an", "/health"]) {
    const { status, headers } = await target.fetch(path, {
      method: "OPTIONS",
      headers: {
        origin: "https://page.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "if-none-match,x-mine",
      },
    });
    expect([status, headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    expect(headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
    expect(headers.get("access-control-allow-headers")).toBe("*");
    expect(headers.get("access-control-max-age")).toBe("86400");
    expect(headers.get("ratelimit")).toBeNull();
  }
  await target.close();
});
