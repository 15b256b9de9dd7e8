/**
 * The page in a real browser: its flows and states at three sizes, in light and dark mode. Requests
 * to other servers, console errors and axe violations fail the test.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { createRoadbook, type Roadbook } from "../../src/roadbook.ts";
import type { RoadbookOptions } from "../../src/serve-flags.ts";
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
  /** The paths that the server was asked for, in order. Intercepting would disable the cache. */
  requested: string[];
  /** Console errors, and requests to other servers. */
  problems: string[];
  /** Changes the data on the server. */
  apply: Roadbook["apply"];
  /** Stops the server, and returns a function that starts it again. */
  pauseServer(): Promise<() => void>;
}

interface OpenOptions extends RoadbookOptions {
  size?: keyof typeof sizes;
  javaScriptEnabled?: boolean;
}

/** Starts a server with the test community, opens a browser window, and closes both after `use`. */
async function open(options: OpenOptions, use: (opened: Opened) => Promise<void>): Promise<void> {
  const { size = "desktop", javaScriptEnabled = true, ...others } = options;
  const shown = { dataset: community, page: true, featured: [42, 45] };
  const roadbook = await createRoadbook({ ...shown, ...others });
  const requested: string[] = [];
  const listen = (port: number) =>
    Bun.serve({
      hostname: "127.0.0.1",
      port,
      fetch(request) {
        requested.push(request.url.slice(new URL(request.url).origin.length));
        return roadbook.fetch(request, "192.0.2.1");
      },
    });
  let server = listen(0);
  const [width, height] = sizes[size];
  const context = await browser?.newContext({
    viewport: { width, height },
    locale: "en-GB",
    javaScriptEnabled,
  });
  if (!context) throw new Error("no browser");
  const { origin, port } = server.url;
  const problems: string[] = [];
  const page = await context.newPage();
  page.on("pageerror", ({ message }) => {
    // Chromium skips a transition if the next page is not ready in time.
    if (!/ViewTransition opt-in|Transition was aborted/.test(message)) problems.push(message);
  });
  page.on("request", (request) => {
    // The test community's avatars are on hosts that do not exist.
    const isOwn = request.url().startsWith(`${origin}/`);
    if (!isOwn && !/^https:\/\/\w+\.example\//.test(request.url())) {
      problems.push(`requested ${request.url()}`);
    }
  });
  page.on("console", (message) => {
    // The browser itself logs every status of 400 or above, and every avatar that fails to load.
    const isExpected = /status of (403|404|429)|ERR_NAME_NOT_RESOLVED|ERR_FAILED/;
    if (message.type() === "error" && !isExpected.test(message.text())) {
      problems.push(message.text());
    }
  });
  const pauseServer = async () => {
    await server.stop(true);
    return () => {
      server = listen(Number(port));
    };
  };
  try {
    const { apply } = roadbook;
    await use({ page, origin, requested, problems, apply, pauseServer });
    expect(problems).toEqual([]);
  } finally {
    await context.close();
    await server.stop(true);
    await roadbook.close();
  }
}

function testPage(name: string, options: OpenOptions, use: Parameters<typeof open>[1]): void {
  test(name, () => open(options, use), PATIENCE_MS);
}

async function searchFor(page: Page, text: string): Promise<void> {
  await page.getByRole("searchbox").fill(text);
  await page.keyboard.press("Enter");
}

async function waitForHeading(page: Page, text: string | RegExp): Promise<void> {
  await page.getByRole("heading", { level: 1, name: text }).waitFor({ timeout: 10_000 });
}

describe.skipIf(!tryBrowser)("in a browser", () => {
  test.each([
    { javaScriptEnabled: true, basePath: "/rb" },
    { javaScriptEnabled: false, basePath: "" },
  ])(
    "back, forward and the same search again count nothing, and all stays under the base path: %j",
    ({ basePath, ...options }) =>
      open({ ...options, ...(basePath && { basePath }) }, async ({ page, origin, requested }) => {
        const searches = () => requested.filter((path) => path.startsWith(`${basePath}/?q=`));
        await page.goto(origin + basePath);
        await waitForHeading(page, "Who is on the road");
        await searchFor(page, "nowak");
        await waitForHeading(page, "Results for “nowak”");
        await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).click();
        await waitForHeading(page, "Łukasz Nowak");
        await page.goBack();
        await waitForHeading(page, "Results for “nowak”");
        expect(await page.getByRole("searchbox").inputValue()).toBe("nowak");
        await page.goBack();
        await waitForHeading(page, "Who is on the road");
        await page.goForward();
        await waitForHeading(page, "Results for “nowak”");
        await page.getByRole("link", { name: "Roadbook, home" }).click();
        await waitForHeading(page, "Who is on the road");
        await searchFor(page, "nowak");
        await waitForHeading(page, "Results for “nowak”");
        expect(searches()).toEqual([`${basePath}/?q=nowak`]);
        await searchFor(page, "baltic");
        await page.getByRole("listitem").filter({ hasText: "Baltic Express" }).waitFor();
        expect(searches()).toEqual([`${basePath}/?q=nowak`, `${basePath}/?q=baltic`]);
        expect(requested.filter((path) => !path.startsWith(basePath))).toEqual([]);
      }),
    PATIENCE_MS,
  );

  testPage(
    "print shows messages, the address and the date, but no forms and links",
    { searchLimit: 2 },
    async ({ page, origin }) => {
      await page.goto(`${origin}/?q=zzzzqq`);
      await page.emulateMedia({ media: "print" });
      expect(await page.getByText("Nobody by that name").isVisible()).toBeTrue();
      expect(await page.getByText(`${origin}/?q=zzzzqq · Data from`).isVisible()).toBeTrue();
      expect(await page.getByText("1 search left").isVisible()).toBeFalse();
      expect(await page.getByRole("search").isVisible()).toBeFalse();
      expect(await page.locator("main a, footer").filter({ visible: true }).count()).toBe(0);
    },
  );

  testPage(
    "when the searches are used up, the page counts down, then offers to try again",
    { searchLimit: 1 },
    async ({ page, origin }) => {
      await page.clock.install();
      await page.goto(origin);
      await searchFor(page, "nowak");
      await page.getByText("0 searches left").waitFor();
      await searchFor(page, "baltic");
      await waitForHeading(page, "Time for a break");
      const timer = page.getByRole("timer");
      expect(await timer.textContent()).toMatch(/^Next search in (1:00:00|59:59)\.$/);
      await page.clock.runFor(61_000);
      expect(await timer.textContent()).toMatch(/^Next search in 5[89]:\d\d\.$/);
      expect(await page.getByRole("link", { name: "Try again" }).count()).toBe(0);
      await page.clock.fastForward(3_600_000);
      await page.getByRole("link", { name: "Try again" }).click();
      await timer.waitFor();
    },
  );

  testPage("everything works with the keyboard", {}, async ({ page, origin }) => {
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
  });

  testPage(
    "avatars are drawings until the picture has loaded, and rows are clickable",
    {},
    async ({ page, origin }) => {
      const avatar = page.locator(".avatar").first();
      /** Whether the drawing is covered. */
      const isCovered = async () => {
        const shown = await avatar.screenshot({ animations: "disabled" });
        await avatar.locator("img").evaluate((image) => image.remove());
        return !shown.equals(await avatar.screenshot({ animations: "disabled" }));
      };
      const hosts = /^https?:.*\.png$/;
      const body =
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9H0z"/></svg>';
      await page.route(hosts, (route) => route.abort());
      await page.goto(`${origin}/?q=ann`);
      expect(await isCovered()).toBeFalse();
      // A host that never responds.
      await page.route(hosts, () => {});
      await page.goto(`${origin}/?q=ann`, { waitUntil: "domcontentloaded" });
      expect(await isCovered()).toBeFalse();
      await page.route(hosts, (route) => route.fulfill({ contentType: "image/svg+xml", body }));
      await page.goto(`${origin}/?q=ann`);
      expect(await isCovered()).toBeTrue();
      const box = await page.locator(".board li").first().boundingBox();
      if (!box) throw new Error("no row");
      await page.mouse.click(box.x + box.width - 5, box.y + 5);
      await page.waitForURL("**/drivers/*", { waitUntil: "commit" });
    },
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

  testPage(
    "a kiosk finds drivers as a visitor types on its keys, and its history leads nowhere",
    { kiosk: true, size: "kiosk", searchLimit: 0 },
    async ({ page, origin }) => {
      await page.goto(origin);
      const before = await page.evaluate(() => history.length);
      const showsMenu = await page.evaluate(() =>
        document.body.dispatchEvent(
          new MouseEvent("contextmenu", { bubbles: true, cancelable: true }),
        ),
      );
      expect(showsMenu).toBeFalse();
      const press = async (...names: string[]) => {
        for (const name of names) await page.getByRole("button", { name, exact: true }).click();
      };
      await press("A", "N", "N", "O", "Backspace");
      await waitForHeading(page, "Results for “ann”");
      await press("A", "Space", "N");
      await waitForHeading(page, "Results for “anna n”");
      const field = page.getByRole("searchbox");
      expect(await field.inputValue()).toBe("anna n");
      // A keyboard works as well.
      await page.keyboard.type("owa");
      await waitForHeading(page, "Results for “anna nowa”");
      await page.getByRole("link", { name: "Anna Nowak" }).click();
      await waitForHeading(page, "Anna Nowak");
      expect(await field.inputValue()).toBe("");
      await searchFor(page, "nowak");
      await waitForHeading(page, "Results for “nowak”");
      for (let times = 0; times < 5; times++) await press("Backspace");
      await waitForHeading(page, "Who is on the road");
      expect(await page.evaluate(() => history.length)).toBe(before);
    },
  );

  testPage(
    "for a whole day, every kiosk visitor finds the start page, even after server restarts",
    { kiosk: true, kioskIdle: "90s", size: "kiosk", searchLimit: 0 },
    async ({ page, origin, problems, apply, pauseServer }) => {
      await page.clock.install();
      await page.goto(origin);
      const highlighted = page.locator(".card.sign");
      // A touch starts the time again. The clock also runs by itself, so there is time to spare.
      await page.goto(`${origin}/drivers/42`);
      await page.clock.fastForward(60_000);
      await page.mouse.click(5, 5);
      await page.clock.fastForward(60_000);
      await waitForHeading(page, "Łukasz Nowak");
      await page.goto(origin);
      const entries = await page.evaluate(() => history.length);
      for (let hour = 0; hour < 24; hour += 6) {
        await searchFor(page, "nowak");
        await waitForHeading(page, "Results for “nowak”");
        await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).click();
        await waitForHeading(page, "Łukasz Nowak");
        await page.evaluate(() => scrollTo(0, 9999));
        await page.getByRole("searchbox").fill("x");
        const resume = hour % 12 === 6 && (await pauseServer());
        const failed = resume && page.waitForEvent("requestfailed");
        await page.clock.fastForward(91_000);
        if (resume) {
          await failed;
          await waitForHeading(page, "Łukasz Nowak");
          resume();
          await page.clock.fastForward(11_000);
        }
        await waitForHeading(page, "Who is on the road");
        await highlighted.waitFor();
        const state = await page.evaluate(() => ({
          y: scrollY,
          typed: document.querySelector("input")?.value,
          path: location.pathname + location.search,
          entries: history.length,
        }));
        expect(state).toEqual({ y: 0, typed: "", path: "/", entries });
        // While the kiosk is unattended, it highlights the drivers in turn.
        const names = new Set<string | null>();
        for (let turn = 0; turn < 3; turn++) {
          names.add(await highlighted.getByRole("link").textContent());
          await page.clock.runFor(8000);
        }
        expect([...names].sort()).toEqual(["Anna Nowak", "Łukasz Nowak"]);
        const resumeAgain = await pauseServer();
        const failedAgain = page.waitForEvent("requestfailed");
        await page.clock.fastForward(91_000);
        await failedAgain;
        expect(await page.getByRole("listitem").count()).toBe(2);
        resumeAgain();
        await page.clock.fastForward(6 * 3_600_000);
        await highlighted.waitFor();
      }
      await apply([{ type: "user", id: 42, public: false }]);
      await page.clock.fastForward(91_000);
      await page.getByText("Łukasz Nowak").waitFor({ state: "detached" });
      await highlighted.getByText("Anna Nowak").waitFor();
      // Ignores the refused connections, which the browser logs.
      problems.splice(0);
    },
  );

  test.each([
    ["/", false],
    ["/?q=nowak", false],
    ["/?q=zzzzqq", false],
    ["/drivers/42", false],
    ["/?q=ann", true],
  ])(
    "%s (kiosk: %p) is accessible, fits the window and has large targets, at any size and in both modes",
    (path, kiosk) =>
      open({ kiosk }, async ({ page, origin }) => {
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
