/** The page at /docs in a real browser that can reach nothing but this server. */
import { expect, test } from "bun:test";
import { openExecutable, run, temporaryFolder } from "./support.ts";

const chromium = Bun.which("chromium");
if (!chromium && !process.env.ROADBOOK_REQUIRE_ALL)
  console.warn("chromium is missing: /docs is not looked at");

test.if(chromium !== null || Boolean(process.env.ROADBOOK_REQUIRE_ALL))(
  "the docs page shows every endpoint, offline, under a policy that allows no other server",
  async () => {
    const target = await openExecutable([]);
    const { headers } = await target.fetch("/docs");
    expect(headers.get("content-security-policy")).toContain(
      "default-src 'none'; script-src 'self'",
    );
    const flags = [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
    ];
    const { stdout } = await run([
      chromium ?? "chromium",
      ...flags,
      `--user-data-dir=${temporaryFolder()}`,
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
      "--window-size=1280,6000",
      "--virtual-time-budget=10000",
      "--dump-dom",
      `${target.origin}/docs`,
    ]);
    for (const text of [
      "Roadbook",
      "Get a public user profile",
      "Get a user's achievements",
      "Search companies by name",
      "Search users by name",
    ]) {
      expect(stdout).toContain(text);
    }
    expect(stdout).not.toContain("Ask AI");
    await target.close();
  },
  60_000,
);
