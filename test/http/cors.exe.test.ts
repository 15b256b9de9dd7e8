/** A page from another origin, in a real browser, can read every response and header. */
import { expect, test } from "bun:test";
import { launchBrowser, tryBrowser } from "../browser.ts";
import { openExecutable } from "../support.ts";

if (!tryBrowser)
  console.warn("chromium is missing: cross-origin requests of a browser are not tested");

interface PageRequest {
  path: string;
  init?: { method?: string; headers?: Record<string, string> };
}

/** Runs in the page. Sends the requests one at a time, and returns the responses. */
async function fetchAll({ origin, requests }: { origin: string; requests: PageRequest[] }) {
  const seen: { status: number; body: string; headers: Record<string, string> }[] = [];
  for (const { path, init } of requests) {
    const headers = { ...init?.headers };
    if (headers["If-None-Match"] === "LAST") {
      headers["If-None-Match"] = seen.at(-1)?.headers.etag ?? "";
    }
    const response = await fetch(origin + path, { ...init, headers, cache: "no-store" });
    const [body, pairs] = [await response.text(), Object.fromEntries(response.headers)];
    seen.push({ status: response.status, body, headers: pairs });
  }
  return seen;
}

test.if(tryBrowser)(
  "a page from another origin can read responses, errors and every header it needs",
  async () => {
    const target = await openExecutable(["--search-limit", "2"]);
    const site = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } }),
    });
    const browser = await launchBrowser();
    const page = await browser.newPage();
    await page.goto(site.url.href);
    const own = { "X-Mine": "1" };
    const requests = [
      { path: "/users/public/42" },
      { path: "/users/public/42", init: { headers: { "If-None-Match": "LAST", ...own } } },
      { path: "/users/public/999999" },
      { path: "/search/users?q=an" },
      { path: "/api/search/companies?q=x" },
      { path: "/search/users?q=an" },
      { path: "/users/public/42", init: { method: "POST", headers: own } },
      { path: "/users/42/achievements", init: { method: "HEAD" } },
    ];
    const seen = await page.evaluate(fetchAll, { origin: target.origin, requests });
    expect(seen.map(({ status }) => status)).toEqual([200, 304, 404, 200, 400, 429, 405, 200]);
    const [profile, again, missing, search, short, refused] = seen;
    expect(profile?.headers).toHaveProperty("x-api-version", "v2.1.0");
    expect(again).toMatchObject({ body: "", headers: { etag: profile?.headers.etag } });
    expect(missing).toMatchObject({ body: expect.stringContaining('"code":"user_not_found"') });
    expect(missing?.headers).toHaveProperty("x-request-id");
    const limit = ["ratelimit", "ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining"];
    for (const one of [search, short, refused]) {
      for (const name of [...limit, "x-ratelimit-reset"]) expect(one?.headers).toHaveProperty(name);
    }
    expect(refused?.headers).toHaveProperty("retry-after");
    await browser.close();
    await site.stop(true);
    await target.close();
  },
  60_000,
);
