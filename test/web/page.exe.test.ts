/**
 * The page in a real browser: its flows and states at three sizes, light and dark, with every request
 * outside the server refused. Nothing may reach the console, and axe may find nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { pageAssets } from "../../src/assets.ts";
import type { PageOptions } from "../../src/http/pages.ts";
import { createRoadbook } from "../../src/roadbook.ts";
import { launchBrowser, listViolations, tryBrowser } from "../browser.ts";
import { community } from "../support.ts";

if (!tryBrowser) console.warn("chromium is missing: the page is not opened in a browser");

const sizes = { phone: [320, 640], desktop: [1280, 800], kiosk: [1080, 1920] } as const;
const PATIENCE_MS = 60_000;

let browser: Browser | undefined;
beforeAll(async () => {
  if (!tryBrowser) return;
  browser = await launchBrowser();
}, PATIENCE_MS);
afterAll(() => browser?.close());

interface Opened {
  page: Page;
  origin: string;
  /** The paths the page asked for, in order. */
  asked: string[];
  /** What went wrong: console errors, requests elsewhere. */
  problems: string[];
  stopServer(): Promise<void>;
}

interface OpenOptions extends PageOptions {
  size?: keyof typeof sizes;
  javaScriptEnabled?: boolean;
  locale?: string;
  searchLimit?: number;
}

/** A server of the fixtures' community, and a new browser window; both are gone after `use`. */
async function open(options: OpenOptions, use: (opened: Opened) => Promise<void>): Promise<void> {
  const { size = "desktop", searchLimit = 30, javaScriptEnabled, locale } = options;
  const { isKiosk, isIndexed, language, featuredIds = [42, 45] } = options;
  const roadbook = await createRoadbook({
    dataset: community,
    searchLimit,
    page: { isKiosk: isKiosk ?? false, isIndexed: isIndexed ?? false, language, featuredIds },
    pageAssets,
  });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => roadbook.fetch(request, "192.0.2.1"),
  });
  const [width, height] = sizes[size];
  const context = await browser?.newContext({
    viewport: { width, height },
    locale: locale ?? "en-GB",
    ...(javaScriptEnabled !== undefined && { javaScriptEnabled }),
  });
  if (!context) throw new Error("no browser");
  const { origin } = server.url;
  const asked: string[] = [];
  const problems: string[] = [];
  await context.route("**", (route) => {
    const url = route.request().url();
    if (!url.startsWith(`${origin}/`)) {
      // The fixtures' avatars are on a host that nobody reaches; the page must do without.
      if (!/^https:\/\/\w+\.example\//.test(url)) problems.push(`asked ${url}`);
      return route.fulfill({ status: 200, contentType: "image/svg+xml", body: "<svg/>" });
    }
    asked.push(url.slice(origin.length));
    return route.continue();
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    // The browser itself notes each status of 400 and more.
    if (message.type() === "error" && !/status of (403|404|429)/.test(message.text()))
      problems.push(message.text());
  });
  const stopServer = async () => {
    await server.stop(true);
    roadbook.close();
  };
  try {
    await use({ page, origin, asked, problems, stopServer });
    expect(problems).toEqual([]);
  } finally {
    await context.close();
    await stopServer();
  }
}

async function searchFor(page: Page, text: string): Promise<void> {
  await page.getByRole("searchbox").fill(text);
  await page.keyboard.press("Enter");
}

const heading = (page: Page) => page.getByRole("heading", { level: 1 });

async function waitForHeading(page: Page, text: string | RegExp): Promise<void> {
  await page.getByRole("heading", { level: 1, name: text }).waitFor({ timeout: 10_000 });
}

describe.skipIf(!tryBrowser)("in a browser", () => {
  test(
    "a search asks once for drivers and once for companies, and back and forward ask for nothing",
    () =>
      open({}, async ({ page, origin, asked }) => {
        await page.goto(origin);
        await waitForHeading(page, "Who is on the road");
        await searchFor(page, "nowak");
        await waitForHeading(page, "Results for “nowak”");
        const searches = () => asked.filter((path) => path.startsWith("/search/"));
        expect(searches()).toEqual(["/search/users?q=nowak", "/search/companies?q=nowak"]);
        expect(page.url()).toBe(`${origin}/?q=nowak`);
        await page.getByText("14 searches left this hour").waitFor();

        await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).click();
        await waitForHeading(page, "Łukasz Nowak");
        expect(page.url()).toBe(`${origin}/drivers/42`);
        await page.goBack();
        await waitForHeading(page, "Results for “nowak”");
        expect(await page.getByRole("searchbox").inputValue()).toBe("nowak");
        await page.goBack();
        await waitForHeading(page, "Who is on the road");
        await page.goForward();
        await waitForHeading(page, "Results for “nowak”");
        expect(searches()).toHaveLength(2);

        await page.reload();
        await waitForHeading(page, "Results for “nowak”");
        await searchFor(page, "baltic");
        await page.getByRole("listitem").filter({ hasText: "Baltic Express" }).waitFor();
      }),
    PATIENCE_MS,
  );

  test(
    "one document, one style, one script, and no request that is not needed",
    () =>
      open({ featuredIds: [] }, async ({ page, origin, asked }) => {
        await page.goto(origin, { waitUntil: "networkidle" });
        expect(asked.map((path) => path.replace(/-\w+\./, ".")).sort()).toEqual([
          "/",
          "/assets/page.css",
          "/assets/page.js",
          "/favicon.svg",
        ]);
      }),
    PATIENCE_MS,
  );

  const states: [string, string, string | RegExp][] = [
    ["a private profile", "/drivers/43", "This driver keeps to themselves"],
    ["an unknown driver", "/drivers/999999", "No such driver"],
    ["no driver's address", "/drivers/abc", "No such driver"],
    ["one letter", "/?q=a", "One letter is too little"],
    ["no result", "/?q=zzzzqq", "Results for “zzzzqq”"],
  ];
  test.each(states)(
    "%s has a state of its own, loaded or navigated to",
    (_, path, text) =>
      open({}, async ({ page, origin }) => {
        await page.goto(origin + path);
        await waitForHeading(page, text);
        await page.goto(origin);
        await page.evaluate((to) => {
          document.querySelector("main")?.insertAdjacentHTML("beforeend", `<a href="${to}">go</a>`);
        }, path);
        await page.getByRole("link", { name: "go", exact: true }).click();
        await waitForHeading(page, text);
        expect(page.url()).toBe(origin + path);
      }),
    PATIENCE_MS,
  );

  test(
    "the limit says how long to wait",
    () =>
      open({ searchLimit: 2 }, async ({ page, origin }) => {
        await page.goto(origin);
        await searchFor(page, "nowak");
        await page.getByText("0 searches left this hour").waitFor();
        await searchFor(page, "baltic");
        await waitForHeading(page, "Time for a break");
        await page.getByText("Search again in 60 minutes.").waitFor();
      }),
    PATIENCE_MS,
  );

  test(
    "a server that is gone is said, and what was typed stays",
    () =>
      open({}, async ({ page, origin, problems, stopServer }) => {
        await page.goto(origin);
        await stopServer();
        await searchFor(page, "nowak");
        await waitForHeading(page, "The server does not answer");
        expect(await page.getByRole("searchbox").inputValue()).toBe("nowak");
        expect(await page.getByRole("link", { name: "Try again" }).isVisible()).toBeTrue();
        // The browser notes the refused connection.
        problems.splice(0);
      }),
    PATIENCE_MS,
  );

  test(
    "without JavaScript the form and the links do the same",
    () =>
      open({ javaScriptEnabled: false }, async ({ page, origin }) => {
        await page.goto(origin);
        await searchFor(page, "nowak");
        await waitForHeading(page, "Results for “nowak”");
        await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).click();
        await waitForHeading(page, "Łukasz Nowak");
      }),
    PATIENCE_MS,
  );

  test(
    "all of it works by keyboard",
    () =>
      open({}, async ({ page, origin }) => {
        await page.goto(origin);
        for (const name of ["Skip to the content", "Roadbook, Start"]) {
          await page.keyboard.press("Tab");
          expect(
            await page.evaluate(() => {
              const { activeElement } = document;
              return activeElement?.getAttribute("aria-label") ?? activeElement?.textContent;
            }),
          ).toBe(name);
        }
        await page.keyboard.press("Tab");
        await page.keyboard.type("nowak");
        await page.keyboard.press("Enter");
        await waitForHeading(page, "Results for “nowak”");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.waitForURL("**/drivers/*");
      }),
    PATIENCE_MS,
  );

  test(
    "the language is the reader's, or the operator's",
    async () => {
      await open({ locale: "de-AT" }, async ({ page, origin }) => {
        await page.goto(origin);
        await waitForHeading(page, "Wer unterwegs ist");
        await searchFor(page, "nowak");
        await waitForHeading(page, "Ergebnisse für „nowak“");
      });
      await open({ locale: "de-AT", language: "en" }, async ({ page, origin }) => {
        await page.goto(origin);
        await waitForHeading(page, "Who is on the road");
      });
    },
    PATIENCE_MS,
  );

  test(
    "a kiosk leads nowhere else, returns to the start, and has no context menu",
    () =>
      open({ isKiosk: true, size: "kiosk" }, async ({ page, origin }) => {
        await page.clock.install();
        await page.goto(`${origin}/drivers/42`);
        await waitForHeading(page, "Łukasz Nowak");
        const elsewhere = await page
          .locator("a")
          .evaluateAll((links) =>
            links
              .map((link) => link.getAttribute("href") ?? "")
              .filter((href) => !/^(\/|#view|\/drivers\/\d+)$/.test(href)),
          );
        expect(elsewhere).toEqual([]);
        const isPrevented = await page.evaluate(
          () =>
            !document.body.dispatchEvent(
              new MouseEvent("contextmenu", { bubbles: true, cancelable: true }),
            ),
        );
        expect(isPrevented).toBeTrue();
        await page.clock.fastForward(119_000);
        expect(await heading(page).textContent()).toBe("Łukasz Nowak");
        await page.mouse.click(5, 5);
        await page.clock.fastForward(119_000);
        expect(await heading(page).textContent()).toBe("Łukasz Nowak");
        await page.clock.fastForward(2_000);
        await waitForHeading(page, "Who is on the road");
      }),
    PATIENCE_MS,
  );

  test.each(["/", "/?q=nowak", "/?q=zzzzqq", "/?q=a", "/drivers/42", "/drivers/43"])(
    "nothing for axe to find, nothing too wide, nothing too small to touch, at any size, light and dark: %s",
    (path) =>
      open({}, async ({ page, origin }) => {
        await page.goto(origin + path);
        for (const [size, [width, height]] of Object.entries(sizes)) {
          await page.setViewportSize({ width, height });
          for (const colorScheme of ["light", "dark"] as const) {
            await page.emulateMedia({ colorScheme });
            const found = await listViolations(page);
            expect({ size, colorScheme, found }).toEqual({ size, colorScheme, found: [] });
          }
          const measured = await page.evaluate(() => ({
            overflow: document.documentElement.scrollWidth - innerWidth,
            small: [...document.querySelectorAll("a:not(.skip), button, input")]
              .filter(
                (element) =>
                  (element.closest(".card") ?? element).getBoundingClientRect().height < 44,
              )
              .map((element) => element.outerHTML),
          }));
          expect({ size, ...measured }).toEqual({ size, overflow: 0, small: [] });
        }
      }),
    PATIENCE_MS,
  );
});
