/**
 * The page in a real browser. Console errors, requests to other servers and axe violations fail the
 * test.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page, Route } from "playwright-core";
import { createRoadbook, type Roadbook } from "../../src/roadbook.ts";
import type { RoadbookOptions } from "../../src/settings/library-options.ts";
import { launchBrowser, listViolations, tryBrowser } from "../browser.ts";
import { fixture, until } from "../support.ts";

if (!tryBrowser) console.warn("Chromium is missing, so the tests of the page are skipped");

const sizes = { phone: [320, 640], desktop: [1280, 800], kiosk: [1080, 1920] } as const;
const PATIENCE_MS = 60_000;

let browser: Browser | undefined;
beforeAll(async () => {
  if (tryBrowser) browser = await launchBrowser();
}, PATIENCE_MS);
afterAll(() => browser?.close());

type Kind = "normal" | "without script" | "with clock";
/** Opening a page takes as long as loading five, so the tests share one page of each kind. */
const pages = new Map<Kind, Page>();
/** Console errors, and requests to other servers. */
const problems: string[] = [];

async function openPage(kind: Kind): Promise<Page> {
  const javaScriptEnabled = kind !== "without script";
  // Transitions between pages would only take time.
  const options = { locale: "en-GB", reducedMotion: "reduce", javaScriptEnabled } as const;
  const page = await browser?.newPage(options);
  if (!page) throw new Error("no browser");
  if (kind === "with clock") await page.clock.install();
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("request", (request) => {
    // The test community's avatars are on hosts that do not exist.
    const isExpected = /^(http:\/\/127\.0\.0\.1:|https:\/\/\w+\.example\/)/;
    if (!isExpected.test(request.url())) problems.push(`requested ${request.url()}`);
  });
  page.on("console", (message) => {
    // The browser itself logs every status of 400 or above, and every avatar that fails to load.
    const isExpected = /status of (403|404|429)|ERR_NAME_NOT_RESOLVED|ERR_FAILED/;
    if (message.type() === "error" && !isExpected.test(message.text())) {
      problems.push(message.text());
    }
  });
  pages.set(kind, page);
  return page;
}

interface Opened extends Pick<Roadbook, "apply"> {
  page: Page;
  origin: string;
  /** The paths that the server was asked for, in order. Intercepting would disable the cache. */
  requested: string[];
  /** Stops the server, and returns a function that starts it again. */
  pauseServer(): Promise<() => void>;
  /** Changes every response, or none without a fault. */
  breakServer(fault?: Fault): void;
}

type Fault = (response: Response, path: string) => Response | Promise<Response>;

interface OpenOptions extends RoadbookOptions {
  size?: keyof typeof sizes;
  kind?: Kind;
}

/** Starts a server with the test community, and stops it after `use`. */
async function open(options: OpenOptions, use: (opened: Opened) => Promise<void>): Promise<void> {
  const { size = "desktop", kind = "normal", ...others } = options;
  const shown = { dataset: fixture, page: true, featured: [42, 45] };
  await using roadbook = await createRoadbook({ ...shown, ...others });
  const requested: string[] = [];
  let fault: Fault | undefined;
  const listen = (port: number) =>
    Bun.serve({
      hostname: "127.0.0.1",
      port,
      async fetch(request) {
        const path = request.url.slice(new URL(request.url).origin.length);
        requested.push(path);
        const response = await roadbook.fetch(request, "192.0.2.1");
        return fault?.(response, path) ?? response;
      },
    });
  let server = listen(0);
  const { origin, port } = server.url;
  const page = pages.get(kind) ?? (await openPage(kind));
  const [width, height] = sizes[size];
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ media: "screen", colorScheme: "light" });
  try {
    await use({
      ...{ page, origin, requested, apply: roadbook.apply },
      async pauseServer() {
        await server.stop(true);
        return () => {
          server = listen(Number(port));
        };
      },
      breakServer(given) {
        fault = given;
      },
    });
    // Ends the page's timers.
    await page.goto("about:blank");
    expect(problems).toEqual([]);
  } finally {
    problems.splice(0);
    await server.stop(true);
  }
}

function testPage(name: string, options: OpenOptions, use: Parameters<typeof open>[1]): void {
  test(name, () => open(options, use), PATIENCE_MS);
}

async function searchFor(page: Page, text: string): Promise<void> {
  await page.getByRole("searchbox").fill(text);
  await page.keyboard.press("Enter");
}

const missing = () => new Response("", { status: 404 });
const hang = () => new Promise<Response>(() => {});
const onlyFor =
  (ending: RegExp, fault: Fault): Fault =>
  (response, path) =>
    ending.test(path) ? fault(response, path) : response;
const edit = (change: (html: string) => string) =>
  onlyFor(/\/\d*$|\?q=/, async (response) => new Response(change(await response.text()), response));
const halve = edit((html) => html.slice(0, html.length / 2));

/** Failures of a server or proxy, when a kiosk loads its first page ("at first") or later. */
const faults: Record<string, Fault> = {
  "a 502": () => new Response("<h1>Bad Gateway</h1>", { status: 502 }),
  "no response": hang,
  "a login page": (_, path) =>
    path === "/login" ? new Response("<h1>Log in</h1>") : Response.redirect("/login"),
  "half a page": halve,
  "half a page at first": halve,
  "no script at first": onlyFor(/js$/, missing),
  "a hanging script at first": onlyFor(/js$/, hang),
  "no style sheet at first": onlyFor(/css$/, missing),
  "another version": edit((html) => html.replace(/page-\w{12}/g, "page-0123456789ab")),
};

describe.skipIf(!tryBrowser)("in a browser", () => {
  testPage(
    "without JavaScript, searches work under the base path, and loading one again counts nothing",
    { basePath: "/rb", kind: "without script" },
    async ({ page, origin, requested }) => {
      await page.goto(`${origin}/rb`);
      await searchFor(page, "nowak");
      await page.waitForURL("**/rb/?q=nowak");
      await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Łukasz Nowak" }).waitFor();
      await page.goBack();
      expect(await page.getByRole("searchbox").inputValue()).toBe("nowak");
      await page.goBack();
      await page.goForward();
      await page.getByRole("link", { name: "Roadbook, home" }).click();
      await page.waitForURL("**/rb/");
      await searchFor(page, "nowak");
      await page.waitForURL("**/rb/?q=nowak");
      await searchFor(page, "baltic");
      await page.getByRole("listitem").filter({ hasText: "Baltic Express" }).waitFor();
      const searches = requested.filter((path) => path.startsWith("/rb/?q="));
      expect(searches).toEqual(["/rb/?q=nowak", "/rb/?q=baltic"]);
      expect(requested.filter((path) => !path.startsWith("/rb"))).toEqual([]);
    },
  );

  testPage("print shows messages, but no forms and links", {}, async ({ page, origin }) => {
    await page.goto(`${origin}/?q=zzzzqq`);
    await page.emulateMedia({ media: "print" });
    expect(await page.getByText("Nobody by that name").isVisible()).toBeTrue();
    expect(await page.getByRole("search").isVisible()).toBeFalse();
    expect(await page.locator("main a, footer").filter({ visible: true }).count()).toBe(0);
  });

  testPage(
    "when the searches are used up, the page counts down, then offers to try again",
    { searchLimit: 1, kind: "with clock" },
    async ({ page, origin }) => {
      await page.goto(`${origin}/?q=nowak`);
      await searchFor(page, "baltic");
      const timer = page.getByRole("timer");
      expect(await timer.textContent()).toMatch(/^Next search in (60:00|59:59)\.$/);
      // The script counts from when it runs, which is before the page has loaded.
      await page.waitForLoadState();
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
    const moves = async (key: string, ...names: string[]) => {
      for (const name of names) {
        await page.keyboard.press(key);
        expect(await page.locator(":focus").textContent()).toBe(name);
      }
    };
    await moves("Tab", "Skip to content", "Roadbook", "");
    await page.keyboard.type("nowak");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/?q=nowak");
    await moves("ArrowDown", "Anna Nowak", "Łukasz Nowak", "Łukasz Nowak");
    await moves("ArrowUp", "Anna Nowak", "");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("/");
    await page.keyboard.type("a/b");
    expect(await page.getByRole("searchbox").inputValue()).toBe("a/b");
    await moves("Tab", "Search", "Anna Nowak");
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
      for (const [respond, isLoaded] of [
        [(route: Route) => route.abort(), false],
        // A host that never responds.
        [() => {}, false],
        [(route: Route) => route.fulfill({ contentType: "image/svg+xml", body }), true],
      ] as const) {
        await page.route(hosts, respond);
        await page.goto(`${origin}/?q=ann`, { waitUntil: isLoaded ? "load" : "domcontentloaded" });
        expect(await isCovered()).toBe(isLoaded);
      }
      await page.unrouteAll();
      const box = await page.locator(".board li").first().boundingBox();
      if (!box) throw new Error("no row");
      await page.mouse.click(box.x + box.width - 5, box.y + 5);
      await page.waitForURL("**/drivers/*");
    },
  );

  testPage(
    "a kiosk finds drivers as a visitor types on its keys, and its history leads nowhere",
    { kiosk: true, size: "kiosk", searchLimit: 0, basePath: "/rb" },
    async ({ page, origin, requested }) => {
      await page.goto(`${origin}/rb/`);
      const before = await page.evaluate(() => history.length);
      const showsMenu = await page.evaluate(() => {
        const options = { bubbles: true, cancelable: true };
        return document.body.dispatchEvent(new MouseEvent("contextmenu", options));
      });
      expect(showsMenu).toBeFalse();
      const press = async (...names: string[]) => {
        for (const name of names) await page.getByRole("button", { name, exact: true }).click();
      };
      await press("A", "N", "N", "O", "Backspace");
      await page.waitForURL("**/rb/?q=ann");
      await press("A", "Space", "N");
      await page.waitForURL("**/rb/?q=anna+n");
      const field = page.getByRole("searchbox");
      expect(await field.inputValue()).toBe("anna n");
      // A keyboard works as well.
      await page.keyboard.type("owa");
      await page.waitForURL("**/rb/?q=anna+nowa");
      await page.getByRole("link", { name: "Anna Nowak" }).click();
      await page.waitForURL("**/rb/drivers/45");
      expect(await field.inputValue()).toBe("");
      await searchFor(page, "no");
      await page.waitForURL("**/rb/?q=no");
      await press("Français");
      await page.getByRole("heading", { name: "Résultats pour «" }).waitFor();
      expect(await field.inputValue()).toBe("no");
      await page.getByRole("link", { name: "Retour à l’accueil" }).click();
      await page.waitForURL("**/rb/");
      await page.getByRole("heading", { name: "Qui est sur la route" }).waitFor();
      expect(await page.evaluate(() => history.length)).toBe(before);
      expect(requested.filter((path) => !path.startsWith("/rb"))).toEqual([]);
    },
  );

  testPage(
    "whatever a kiosk's visitor leaves, the next one finds the start page, even after restarts",
    { kiosk: true, kioskIdle: "90s", size: "kiosk", searchLimit: 0, kind: "with clock" },
    async ({ page, origin, apply, pauseServer }) => {
      const highlighted = page.locator(".card.lit");
      // A touch starts the time again. The clock also runs by itself, so there is time to spare.
      await page.goto(`${origin}/drivers/42`);
      await page.clock.fastForward(60_000);
      await page.mouse.click(5, 5);
      await page.clock.fastForward(60_000);
      expect(page.url()).toBe(`${origin}/drivers/42`);
      const entries = await page.evaluate(() => history.length);
      for (const isDown of [false, true]) {
        await page.getByRole("button", { name: "Polski" }).click();
        await page.locator('html[lang="pl"]').waitFor();
        await searchFor(page, "nowak");
        await page.waitForURL("**/?q=nowak");
        await page.getByRole("link", { name: "Łukasz Nowak", exact: true }).click();
        await page.waitForURL("**/drivers/42");
        await page.evaluate(() => scrollTo(0, 9999));
        await page.getByRole("searchbox").fill("x");
        const resume = isDown && (await pauseServer());
        const failed = resume && page.waitForEvent("requestfailed");
        await page.clock.fastForward(91_000);
        if (resume) {
          await failed;
          expect(page.url()).toBe(`${origin}/drivers/42`);
          resume();
          await page.clock.fastForward(11_000);
        }
        await highlighted.waitFor();
        await page.getByRole("heading", { name: "Who is on the road" }).waitFor();
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
          const heights = await page.$$eval(".card", (cards) =>
            cards.map((each) => each.clientHeight),
          );
          expect(new Set(heights).size).toBe(1);
          await page.clock.runFor(8000);
        }
        expect([...names].sort()).toEqual(["Anna Nowak", "Łukasz Nowak"]);
      }
      const resume = await pauseServer();
      const failed = page.waitForEvent("requestfailed");
      await page.clock.fastForward(91_000);
      await failed;
      expect(await page.getByRole("listitem").count()).toBe(2);
      expect(await page.getByText("One moment…").isVisible()).toBeFalse();
      resume();
      await apply([{ type: "user", id: 42, public: false }]);
      await page.clock.fastForward(6 * 3_600_000);
      await page.getByText("Łukasz Nowak").waitFor({ state: "detached" });
      await highlighted.getByText("Anna Nowak").waitFor();
      // Ignores the refused connections, which the browser logs.
      problems.splice(0);
    },
  );

  test.each([...Object.keys(faults), "no server", "no network", "another clock"])(
    "a kiosk comes back within 90 seconds from %s, and then does what was tapped last",
    async (name) => {
      const shown = { kiosk: true, size: "kiosk", kind: "with clock" } as const;
      const options = { ...shown, searchLimit: 0, compress: false };
      const [isFirst, isAway] = [name.endsWith("at first"), !name.startsWith("another")];
      await open(options, async ({ page, origin, requested, pauseServer, breakServer }) => {
        if (!isFirst) await page.goto(origin);
        breakServer(faults[name]);
        const resume = name === "no server" ? await pauseServer() : undefined;
        if (name === "no network") await page.context().setOffline(true);
        if (name === "another clock") await page.clock.setSystemTime("2001-01-01");
        if (isFirst) await page.goto(origin, { waitUntil: "commit" });
        else {
          const drivers = isAway ? ["Anna Nowak", "Łukasz Nowak"] : ["Łukasz Nowak"];
          for (const name of drivers) await page.getByRole("link", { name, exact: true }).click();
          await page.clock.runFor(2000);
          if (isAway) await page.getByText("One moment…").waitFor();
        }
        await page.clock.runFor(30_000);
        if (isAway) breakServer();
        resume?.();
        await page.context().setOffline(false);
        await page.clock.runFor(80_000);
        if (!isFirst) await page.waitForURL("**/drivers/42");
        await page.locator("#q:focus").waitFor();
        await until(() => page.evaluate(() => document.styleSheets.length === 1));
        expect(await page.getByText("One moment…").isVisible()).toBeFalse();
        for (const name of ["A", "N"]) {
          await page.getByRole("button", { name, exact: true }).click();
        }
        await page.clock.runFor(1000);
        await page.waitForURL("**/?q=an");
        await page.getByRole("link", { name: "Anna Nowak" }).waitFor();
        const isOther = requested.includes("/assets/page-0123456789ab.js");
        expect(isOther).toBe(name === "another version");
        // Ignores the failed requests, which the browser logs.
        const logged = /^Failed to load resource|MIME type/;
        expect(problems.splice(0).filter((text) => !logged.test(text))).toEqual([]);
      });
    },
    PATIENCE_MS,
  );

  const paths = ["/", "/?q=nowak", "/?q=zzzzqq", "/drivers/42", "/companies/3"];
  const kioskPaths = ["/", "/?q=ann"].map((path) => [path, true] as const);
  test.each([...paths.map((path) => [path, false] as const), ...kioskPaths])(
    "%s (kiosk: %p) is accessible, fits the window and has large targets, at any size and in both modes",
    (path, kiosk) =>
      open({ kiosk }, async ({ page, origin }) => {
        await page.goto(origin + path);
        for (const [size, [width, height]] of Object.entries(sizes)) {
          await page.setViewportSize({ width, height });
          await page.emulateMedia({ colorScheme: "dark" });
          // The modes differ only in colours.
          const inDark = await listViolations(page, "color-contrast");
          await page.emulateMedia({ colorScheme: "light" });
          const inLight = await listViolations(page);
          const measured = await page.evaluate(() => ({
            overflow: document.documentElement.scrollWidth - innerWidth,
            small: [...document.querySelectorAll("a:not(.skip), button, input")]
              .map((element) => element.closest(".card, .board li") ?? element)
              .filter((element) => element.getBoundingClientRect().height < 44)
              .map((element) => element.outerHTML),
          }));
          const none = { inDark: [], inLight: [], overflow: 0, small: [] };
          expect({ size, inDark, inLight, ...measured }).toEqual({ size, ...none });
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
