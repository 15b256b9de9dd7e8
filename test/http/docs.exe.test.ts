/** The page at /docs in a real browser that can reach only this server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { createRoadbook } from "../../src/roadbook.ts";
import { launchBrowser, listViolations, tryBrowser } from "../browser.ts";
import { openExecutable, type Target } from "../support.ts";

if (!tryBrowser) console.warn("chromium is missing: /docs is not opened in a browser");

const PATIENCE_MS = 300_000;

let target: Target;
beforeAll(async () => {
  target = await openExecutable([]);
}, PATIENCE_MS);
afterAll(() => target.close());

test("the policy forbids inline scripts and every other server except the public URL", async () => {
  for (const [publicUrl, connect] of [
    [undefined, "'self'"],
    ["https://api.example.org/roadbook", "'self' https://api.example.org"],
  ]) {
    await using roadbook = await createRoadbook({ dataset: [], ...(publicUrl && { publicUrl }) });
    const { headers } = await roadbook.fetch(new Request("http://a.example/docs"));
    expect(headers.get("content-security-policy")).toStartWith(
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; " +
        `font-src 'self' data:; connect-src ${connect}; `,
    );
  }
});

describe.skipIf(!tryBrowser)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  }, PATIENCE_MS);
  afterAll(() => browser.close());

  /** Opens the page. Fails on requests to other servers and on console errors. */
  async function open(
    colorScheme: "light" | "dark",
    use: (page: Page, paths: string[]) => Promise<void>,
  ): Promise<void> {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 900 } });
    // Shorter than a test may take, because a test that takes too long ends all others of its file.
    page.setDefaultTimeout(PATIENCE_MS / 3);
    const problems: string[] = [];
    const paths: string[] = [];
    await page.route("**", (route) => {
      const url = route.request().url();
      if (!url.startsWith(`${target.origin}/`)) {
        problems.push(`requested ${url}`);
        return route.abort();
      }
      paths.push(url.slice(target.origin.length));
      return route.continue();
    });
    page.on("pageerror", (error) => problems.push(error.message));
    // The browser itself logs every status of 400 or above.
    page.on("console", (message) => {
      if (message.type() !== "info") problems.push(`${message.type()}: ${message.text()}`);
    });
    await page.goto(`${target.origin}/docs`);
    await page.getByRole("heading", { name: "Get a public user profile" }).first().waitFor();
    await use(page, paths);
    expect(problems).toEqual([]);
    await page.close();
  }

  test(
    "the first sample request works, whether copied or sent by its button",
    () =>
      open("light", async (page) => {
        const sample = await page.locator("pre", { hasText: "curl" }).first().textContent();
        const [, url = ""] = /^curl (\S+)/.exec(sample?.trim() ?? "") ?? [];
        expect(url).toBe(`${target.origin}/users/public/12`);
        const test = page.getByRole("button", { name: /test request/i });
        await test.first().click();
        const [response] = await Promise.all([
          page.waitForResponse(url),
          page.getByRole("button", { name: /^send/i }).first().click(),
        ]);
        expect(await response.json()).toEqual(await (await fetch(url)).json());
        await page.getByText("200 OK").first().waitFor();
      }),
    PATIENCE_MS,
  );

  // The themes differ only in contrast, so nothing else is checked in the dark theme.
  test.each([
    ["light", []],
    ["dark", ["color-contrast"]],
  ] as const)(
    "the %s page shows every endpoint, loads only its own files, and axe finds no serious fault",
    (colorScheme, rules) =>
      open(colorScheme, async (page, paths) => {
        // Scalar renders each section when the section is first scrolled into view.
        for (const name of ["Get a user's achievements", "Search companies by name", "ApiError"]) {
          await page.getByRole("link", { name }).first().click();
        }
        await page.waitForLoadState("networkidle");
        const violations = await listViolations(page, ...rules);
        expect(violations.filter(({ impact }) => /serious|critical/.test(impact))).toEqual([]);
        const own = ["/docs", "/docs/json", "/docs/scalar.js", "/favicon.svg"];
        expect([...new Set(paths)].sort()).toEqual(own);
        expect(await page.locator("body").textContent()).not.toContain("Ask AI");
      }),
    PATIENCE_MS,
  );
});
