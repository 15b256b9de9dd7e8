/**
 * The page in a real browser: its flows and states at three sizes, in light and dark mode. Requests
 * to other servers, console errors and axe violations fail the test.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { pageAssets } from "../../src/assets.ts";
import type { ChangeLine } from "../../src/domain/dataset.ts";
import type { PageOptions } from "../../src/http/pages.ts";
import { createRoadbook, type Roadbook } from "../../src/roadbook.ts";
import { drawAvatar, drawAvatarPng } from "../../src/web/drawings.ts";
import { launchBrowser, listViolations, tryBrowser } from "../browser.ts";
import { community } from "../support.ts";

if (!tryBrowser) console.warn("Chromium is missing, so the tests of the page are skipped");

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
  /** The requested paths, in order. */
  requested: string[];
  /** Console errors, and requests to other servers. */
  problems: string[];
  /** Changes the data on the server. */
  apply: Roadbook["apply"];
  stopServer(): Promise<void>;
  /** Stops the server, and returns a function that starts it again. */
  pauseServer(): Promise<() => void>;
}

interface OpenOptions extends PageOptions {
  basePath?: string;
  size?: keyof typeof sizes;
  javaScriptEnabled?: boolean;
  locale?: string;
  searchLimit?: number;
}

/** Starts a server with the test community, opens a browser window, and closes both after `use`. */
async function open(options: OpenOptions, use: (opened: Opened) => Promise<void>): Promise<void> {
  const { size = "desktop", searchLimit = 30, javaScriptEnabled, locale } = options;
  const { kiosk, allowIndexing, language, featured = [42, 45] } = options;
  const roadbook = await createRoadbook({
    dataset: community,
    searchLimit,
    page: true,
    ...{ kiosk, allowIndexing, language, featured, basePath: options.basePath },
    kioskIdle: options.kioskIdle,
    pageAssets,
  });
  const listen = (port: number) =>
    Bun.serve({
      hostname: "127.0.0.1",
      port,
      fetch: (request) => roadbook.fetch(request, "192.0.2.1"),
    });
  let server = listen(0);
  const [width, height] = sizes[size];
  const context = await browser?.newContext({
    viewport: { width, height },
    locale: locale ?? "en-GB",
    ...(javaScriptEnabled !== undefined && { javaScriptEnabled }),
  });
  if (!context) throw new Error("no browser");
  const { origin, port } = server.url;
  const requested: string[] = [];
  const problems: string[] = [];
  await context.route("**", (route) => {
    const url = route.request().url();
    if (!url.startsWith(`${origin}/`)) {
      // The test community's avatars are on a host that does not exist.
      if (!/^https:\/\/\w+\.example\//.test(url)) problems.push(`requested ${url}`);
      return route.fulfill({ status: 200, contentType: "image/svg+xml", body: "<svg/>" });
    }
    requested.push(url.slice(origin.length));
    return route.continue();
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    // The browser itself logs every status of 400 or above.
    if (message.type() === "error" && !/status of (403|404|429)/.test(message.text()))
      problems.push(message.text());
  });
  const stopServer = async () => {
    await server.stop(true);
    roadbook.close();
  };
  const pauseServer = async () => {
    await server.stop(true);
    return () => {
      server = listen(Number(port));
    };
  };
  try {
    const { apply } = roadbook;
    await use({ page, origin, requested, problems, apply, stopServer, pauseServer });
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
    "a search sends two requests, and back and forward use up no searches",
    () =>
      open({}, async ({ page, origin, requested }) => {
        await page.goto(origin);
        await waitForHeading(page, "Who is on the road");
        await searchFor(page, "nowak");
        await waitForHeading(page, "Results for “nowak”");
        const searches = () => requested.filter((path) => path.startsWith("/search/"));
        expect(searches()).toEqual(["/search/users?q=nowak", "/search/companies?q=nowak"]);
        expect(page.url()).toBe(`${origin}/?q=nowak`);
        // Otherwise, phones would share the start page's canonical link instead of this URL.
        expect(await page.locator("link[rel=canonical]").count()).toBe(0);
        await page.getByText("14 searches left").waitFor();
        await searchFor(page, " nowak");
        expect(searches()).toHaveLength(2);
        expect(await page.evaluate(() => history.state.index)).toBe(1);

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
    "with a base path, every request and every URL stays under that path",
    () =>
      open({ basePath: "/rb" }, async ({ page, origin, requested }) => {
        await page.goto(`${origin}/rb`);
        await searchFor(page, "nowak");
        // The start page links to this driver too, so wait for the results.
        await waitForHeading(page, "Results for “nowak”");
        await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).click();
        await waitForHeading(page, "Łukasz Nowak");
        expect(page.url()).toBe(`${origin}/rb/drivers/42`);
        await page.goBack();
        await waitForHeading(page, "Results for “nowak”");
        await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).waitFor();
        await page.getByRole("link", { name: "Roadbook, home" }).click();
        await waitForHeading(page, "Who is on the road");
        expect(page.url()).toBe(`${origin}/rb/`);
        expect(requested.filter((path) => !path.startsWith("/rb"))).toEqual([]);
        expect(requested.filter((path) => path.startsWith("/rb/search/"))).toHaveLength(2);
      }),
    PATIENCE_MS,
  );

  const becomePrivate: ChangeLine = { type: "user", id: 42, public: false };

  test(
    "back and forward hide drivers who have become private, and use up no searches",
    () =>
      open({ featured: [42] }, async ({ page, origin, requested, apply }) => {
        // The server renders these results. The page's script renders the later ones.
        await page.goto(`${origin}/?q=nowak`);
        await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).click();
        await waitForHeading(page, "Łukasz Nowak");
        await searchFor(page, "lukasz");
        await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).waitFor();
        await page.getByRole("link", { name: "Roadbook, home" }).click();
        await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).waitFor();
        expect(await page.evaluate(() => Object.keys(history.state).sort())).toEqual([
          "index",
          "y",
        ]);

        const countSearches = () => requested.filter((path) => path.startsWith("/search/")).length;
        const before = countSearches();
        await apply([becomePrivate]);
        await page.goBack();
        await waitForHeading(page, "Results for “lukasz”");
        expect(await page.content()).not.toContain("Łukasz Nowak");
        await page.goBack();
        await waitForHeading(page, "This driver keeps to themselves");
        expect(await page.content()).not.toContain("Łukasz Nowak");
        await page.goBack();
        await waitForHeading(page, "Results for “nowak”");
        expect(await page.getByRole("searchbox").inputValue()).toBe("nowak");
        await page.getByRole("link", { name: "Anna Nowak", exact: true }).waitFor();
        expect(await page.content()).not.toContain("Łukasz Nowak");
        for (const name of [/keeps to themselves/, /“lukasz”/, "Who is on the road"]) {
          await page.goForward();
          await waitForHeading(page, name);
          expect(await page.content()).not.toContain("Łukasz Nowak");
        }
        expect(countSearches()).toBe(before);
      }),
    PATIENCE_MS,
  );

  test(
    "going back to a cached document hides private drivers too, but keeps the companies",
    () =>
      open({}, async ({ page, origin, requested, apply }) => {
        await page.goto(`${origin}/drivers/42`);
        await waitForHeading(page, "Łukasz Nowak");
        await page.goto(`${origin}/docs`);
        await apply([becomePrivate]);
        await page.goBack();
        await waitForHeading(page, "This driver keeps to themselves");

        await page.goto(`${origin}/?q=express`);
        const company = page.getByRole("listitem").filter({ hasText: "Baltic Express" });
        const text = await company.textContent();
        const searches = requested.filter((path) => path.startsWith("/search/")).length;
        await apply([{ type: "user", id: 45, public: false }]);
        // Simulates Chromium's back/forward cache.
        await page.evaluate(() =>
          window.dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })),
        );
        await page.getByText("4 companies").waitFor();
        expect(await company.textContent()).toBe(text);
        expect(requested.filter((path) => path.startsWith("/search/"))).toHaveLength(searches);
      }),
    PATIENCE_MS,
  );

  test(
    "back and forward restore the scroll position",
    () =>
      open({ size: "phone" }, async ({ page, origin }) => {
        await page.goto(`${origin}/?q=nowak`);
        await page.evaluate(() => {
          document.querySelector("main")?.style.setProperty("padding-top", "3000px");
          scrollTo(0, 2900);
          document.querySelector<HTMLElement>("a[href='/drivers/42']")?.click();
        });
        await waitForHeading(page, "Łukasz Nowak");
        expect(await page.evaluate(() => scrollY)).toBe(0);
        await page.evaluate(() => scrollTo(0, 1234));
        await page.waitForFunction(() => history.state.y === 1234);
        await page.goBack();
        await waitForHeading(page, "Results for “nowak”");
        expect(await page.evaluate(() => scrollY)).toBe(2900);
        await page.goForward();
        await waitForHeading(page, "Łukasz Nowak");
        expect(await page.evaluate(() => scrollY)).toBe(1234);
      }),
    PATIENCE_MS,
  );

  test(
    "the start page loads one style sheet, one script and nothing unnecessary",
    () =>
      open({ featured: [] }, async ({ page, origin, requested }) => {
        await page.goto(origin, { waitUntil: "networkidle" });
        expect(requested.map((path) => path.replace(/-[\w-]+\./, ".")).sort()).toEqual([
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
    ["an invalid id", "/drivers/abc", "No such driver"],
    ["one letter", "/?q=a", "One letter is not enough"],
    ["no result", "/?q=zzzzqq", "Results for “zzzzqq”"],
  ];
  test.each(states)(
    "%s gets a heading and a link to other drivers, whether loaded or navigated to",
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
        await page.getByRole("link", { name: "See other drivers" }).click();
        await waitForHeading(page, "Who is on the road");
      }),
    PATIENCE_MS,
  );

  test(
    "in print, messages are shown, and forms and links are hidden",
    () =>
      open({}, async ({ page, origin }) => {
        await page.goto(`${origin}/?q=zzzzqq`);
        await page.emulateMedia({ media: "print" });
        expect(await page.getByText("Nobody by that name").isVisible()).toBeTrue();
        expect(await page.getByRole("search").isVisible()).toBeFalse();
        expect(await page.locator("main a, footer").filter({ visible: true }).count()).toBe(0);
      }),
    PATIENCE_MS,
  );

  test(
    "when the searches are used up, the page counts down, then offers to try again",
    () =>
      open({ searchLimit: 2 }, async ({ page, origin }) => {
        await page.clock.install();
        await page.goto(origin);
        await searchFor(page, "nowak");
        await page.getByText("0 searches left").waitFor();
        await searchFor(page, "baltic");
        await waitForHeading(page, "Time for a break");
        const timer = page.getByRole("timer");
        expect(await timer.textContent()).toBe("Next search in 1:00:00.");
        await page.clock.runFor(61_000);
        expect(await timer.textContent()).toMatch(/^Next search in 5[89]:\d\d\.$/);
        expect(await page.getByRole("link", { name: "Try again" }).count()).toBe(0);
        await page.clock.fastForward(3_600_000);
        await page.getByRole("link", { name: "Try again" }).click();
        await timer.waitFor();
      }),
    PATIENCE_MS,
  );

  test(
    "when the server is unreachable, the page says so and keeps the query",
    () =>
      open({}, async ({ page, origin, problems, stopServer }) => {
        await page.goto(origin);
        await stopServer();
        await searchFor(page, "nowak");
        await waitForHeading(page, "The server is not responding");
        expect(await page.getByRole("searchbox").inputValue()).toBe("nowak");
        expect(await page.getByRole("link", { name: "Try again" }).isVisible()).toBeTrue();
        // Ignores the refused connection, which the browser logs.
        problems.splice(0);
      }),
    PATIENCE_MS,
  );

  test(
    "the form and the links work without JavaScript",
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
    "everything works with the keyboard",
    () =>
      open({}, async ({ page, origin }) => {
        await page.goto(origin);
        for (const name of ["Skip to content", "Roadbook, home"]) {
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
        const focused = () => page.evaluate(() => document.activeElement?.textContent);
        // The heading has focus, so ArrowDown moves to the first result.
        for (const name of ["Anna Nowak", "Łukasz Nowak", "Łukasz Nowak"]) {
          await page.keyboard.press("ArrowDown");
          expect(await focused()).toBe(name);
        }
        for (const name of ["Anna Nowak", ""]) {
          await page.keyboard.press("ArrowUp");
          expect(await focused()).toBe(name);
        }
        await page.keyboard.press("Escape");
        expect(await page.getByRole("searchbox").inputValue()).toBe("");
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("/");
        await page.keyboard.type("a/b");
        expect(await page.getByRole("searchbox").inputValue()).toBe("a/b");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.waitForURL("**/drivers/*");
      }),
    PATIENCE_MS,
  );

  test(
    "an avatar that fails to load is replaced by a drawing, and the whole row is clickable",
    () =>
      open({ featured: [Number.MAX_SAFE_INTEGER] }, async ({ page, origin }) => {
        for (const path of ["/", "/?q=ann"]) {
          await page.goto(origin + path);
          await page.locator(`img[src$='/avatars/${Number.MAX_SAFE_INTEGER}.svg']`).waitFor();
        }
        const row = await page.getByRole("listitem").first().boundingBox();
        if (!row) throw new Error("no row");
        await page.mouse.click(row.x + row.width - 5, row.y + 5);
        await waitForHeading(page, "Ann");
      }),
    PATIENCE_MS,
  );

  test(
    "the page is in the reader's language, or in the language that the operator sets",
    async () => {
      await open({ locale: "de-AT" }, async ({ page, origin }) => {
        await page.goto(origin);
        await waitForHeading(page, "Wer unterwegs ist");
        await searchFor(page, "nowak");
        await waitForHeading(page, "Ergebnisse für „nowak“");
      });
      const titles = {
        pl: "Kto jest w trasie",
        fr: "Qui est sur la route",
        es: "Quién está en ruta",
        cs: "Kdo je na cestách",
      };
      for (const [locale, title] of Object.entries(titles)) {
        await open({ locale }, async ({ page, origin }) => {
          await page.goto(origin);
          await waitForHeading(page, title);
          // The page's script renders in the same language as the server.
          await page.getByRole("link", { name: "Łukasz Nowak" }).click();
          await waitForHeading(page, "Łukasz Nowak");
          await page.goBack();
          await waitForHeading(page, title);
        });
      }
      await open({ locale: "de-AT", language: "en" }, async ({ page, origin }) => {
        await page.goto(origin);
        await waitForHeading(page, "Who is on the road");
      });
    },
    PATIENCE_MS,
  );

  test("the PNG of an avatar matches the SVG without the initials", async () => {
    const page = await browser?.newPage();
    if (!page) throw new Error("no browser");
    for (const id of [0, 1, 2, 3, 4, 5, 6]) {
      const svg = drawAvatar(id, "").replace(/<text.*<\/text>/, "");
      const urls = [
        `data:image/svg+xml,${encodeURIComponent(svg)}`,
        `data:image/png;base64,${Buffer.from(drawAvatarPng(id)).toString("base64")}`,
      ];
      const difference = await page.evaluate(async (urls) => {
        const pictures = urls.map(async (src) => {
          const image = Object.assign(new Image(), { src });
          await image.decode();
          if (image.naturalWidth !== 256) throw new Error(`${image.naturalWidth} pixels wide`);
          const context = new OffscreenCanvas(256, 256).getContext("2d");
          context?.drawImage(image, 0, 0);
          return [...(context?.getImageData(0, 0, 256, 256).data ?? [])];
        });
        const [svg = [], png = []] = await Promise.all(pictures);
        const differences = svg.map((value, index) => Math.abs(value - (png[index] ?? 0)));
        return differences.reduce((sum, value) => sum + value) / svg.length;
      }, urls);
      expect({ id, difference, isSame: difference < 0.2 }).toMatchObject({ isSame: true });
    }
    await page.close();
  });

  test(
    "a kiosk has no links off the site and no context menu, and returns to the start page",
    () =>
      open({ kiosk: true, size: "kiosk" }, async ({ page, origin }) => {
        await page.clock.install();
        await page.goto(`${origin}/drivers/42`);
        await waitForHeading(page, "Łukasz Nowak");
        const externalLinks = await page
          .locator("a")
          .evaluateAll((links) =>
            links
              .map((link) => link.getAttribute("href") ?? "")
              .filter((href) => !/^(\/|#view|\/drivers\/\d+)$/.test(href)),
          );
        expect(externalLinks).toEqual([]);
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

  test.each([3, 30])(
    "after %d views and a return to the start page, a kiosk's history leads nowhere else",
    (views) =>
      open(
        { kiosk: true, size: "kiosk", featured: [], searchLimit: 0 },
        async ({ page, origin }) => {
          await page.clock.install();
          await page.goto(`${origin}/drivers/42`);
          for (let view = 0; view < views; view++) {
            await searchFor(page, `nowak ${view}`);
            await waitForHeading(page, `Results for “nowak ${view}”`);
          }
          await page.goBack();
          await waitForHeading(page, /^Results for/);
          await page.clock.fastForward(121_000);
          await waitForHeading(page, "Who is on the road");
          await page.waitForURL(`${origin}/`);
          for (const go of ["goForward", "goBack", "goForward"] as const) {
            await page[go]();
            await page.clock.runFor(1000);
            await waitForHeading(page, "Who is on the road");
            expect(page.url()).toBe(`${origin}/`);
          }
          // The next visitor can go back to their own views, but the visitor after that cannot.
          await searchFor(page, "anna");
          await waitForHeading(page, "Results for “anna”");
          await page.goBack();
          await waitForHeading(page, "Who is on the road");
          await page.goForward();
          await waitForHeading(page, "Results for “anna”");
          await page.clock.fastForward(121_000);
          await waitForHeading(page, "Who is on the road");
          await page.goBack();
          expect(page.url()).toBe(`${origin}/`);
          await page.goForward();
          expect(page.url()).toBe(`${origin}/`);
        },
      ),
    PATIENCE_MS,
  );

  test(
    "for a whole day, every kiosk visitor finds the start page, even after server restarts",
    () =>
      open(
        { kiosk: true, kioskIdle: "90s", size: "kiosk", searchLimit: 0 },
        async ({ page, origin, problems, apply, pauseServer }) => {
          await page.clock.install();
          await page.goto(origin);
          await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
          const highlighted = page.locator(".card.sign");
          const waitForStart = () => waitForHeading(page, "Who is on the road");
          for (let hour = 0; hour < 24; hour += 3) {
            await searchFor(page, "nowak");
            await waitForHeading(page, "Results for “nowak”");
            await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).click();
            await waitForHeading(page, "Łukasz Nowak");
            await page.evaluate(() => scrollTo(0, 9999));
            await page.getByRole("searchbox").fill(`secret ${hour}`);
            const resume = hour % 6 === 3 && (await pauseServer());
            await page.clock.fastForward(91_000);
            if (resume) {
              await waitForHeading(page, "The server is not responding");
              resume();
              await page.clock.fastForward(11_000);
            }
            await waitForStart();
            await highlighted.waitFor();
            const state = await page.evaluate(() => ({
              y: scrollY,
              typed: document.querySelector("input")?.value,
              path: location.pathname + location.search,
              isShort: history.length < 10,
              isSameDocument: "isSameDocument" in window,
            }));
            const reset = { y: 0, typed: "", path: "/", isShort: true, isSameDocument: true };
            expect(state).toEqual(reset);
            await page.getByRole("searchbox").fill("half");
            await page.clock.fastForward(91_000);
            await page.locator("input:placeholder-shown").waitFor();
            await highlighted.waitFor();
            // While the kiosk is unattended, it highlights the drivers in turn.
            const names = new Set<string | null>();
            for (let turn = 0; turn < 3; turn++) {
              names.add(await highlighted.getByRole("link").textContent());
              await page.clock.runFor(8000);
            }
            expect([...names].sort()).toEqual(["Anna Nowak", "Łukasz Nowak"]);
            const resumeAgain = await pauseServer();
            const failed = page.waitForEvent("requestfailed");
            await page.clock.fastForward(91_000);
            await failed;
            expect(await page.getByRole("listitem").count()).toBe(2);
            resumeAgain();
            await page.clock.fastForward(3 * 3_600_000);
          }
          await apply([becomePrivate]);
          await page.clock.fastForward(91_000);
          await page.getByText("Łukasz Nowak").waitFor({ state: "detached" });
          await highlighted.getByText("Anna Nowak").waitFor();

          // Simulates an update of Roadbook, which changes the script.
          await page.evaluate(() =>
            document.querySelector("script")?.setAttribute("src", "/old.js"),
          );
          await page.clock.fastForward(91_000);
          await page.waitForFunction(() => !("isSameDocument" in window));
          await waitForStart();
          // Ignores the refused connections, which the browser logs.
          problems.splice(0);
        },
      ),
    PATIENCE_MS,
  );

  test.each(["/", "/?q=nowak", "/?q=zzzzqq", "/?q=a", "/drivers/42", "/drivers/43"])(
    "%s is accessible, fits the window and has large targets, at any size and in both modes",
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
                  (element.closest(".card, .board li") ?? element).getBoundingClientRect().height <
                  44,
              )
              .map((element) => element.outerHTML),
          }));
          expect({ size, ...measured }).toEqual({ size, overflow: 0, small: [] });
        }
        // Doubles the text size in a small window, as at 200% zoom.
        await page.setViewportSize({ width: 640, height: 400 });
        const isTooWide = await page.evaluate(() => {
          document.documentElement.style.fontSize = "200%";
          return document.documentElement.scrollWidth > innerWidth;
        });
        expect(isTooWide).toBeFalse();
      }),
    PATIENCE_MS,
  );
});
