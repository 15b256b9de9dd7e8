/** The page at /docs in a real browser that can reach nothing but this server. */
import { expect, test } from "bun:test";
import { dumpPage, tryBrowser } from "../browser.ts";
import { openExecutable } from "../support.ts";

if (!tryBrowser) console.warn("chromium is missing: /docs is not looked at");

test.if(tryBrowser)(
  "the docs page shows every endpoint, offline, under a policy that allows no other server",
  async () => {
    const target = await openExecutable([]);
    const { headers } = await target.fetch("/docs");
    expect(headers.get("content-security-policy")).toContain(
      "default-src 'none'; script-src 'self'",
    );
    const page = await dumpPage(`${target.origin}/docs`, 10_000);
    for (const text of [
      "Roadbook",
      "Get a public user profile",
      "Get a user's achievements",
      "Search companies by name",
      "Search users by name",
    ]) {
      expect(page).toContain(text);
    }
    expect(page).not.toContain("Ask AI");
    await target.close();
  },
  60_000,
);
