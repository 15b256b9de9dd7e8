/**
 * The page in a real browser. Console errors, requests to other servers and axe violations fail the
 * test.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page, Route } from "playwright-core";
import { createRoadbook, type Roadbook } from "../../src/roadbook.ts";
import type { RoadbookOptions } from "../../src/settings/library-options.ts";
import { launchBrowser, listViolations, tryBrowser } from "../browser.ts";
import { user } from "../datasets.ts";
import { fixture, until } from "../support.ts";

if (!tryBrowser) console.warn("Chromium is missing, so the tests of the page are skipped");

const sizes = {
  phone: [320, 640],
  desktop: [1280, 800],
  /** A standing kiosk, a lying one, and the display of a Raspberry Pi. */
  kiosk: [1080, 1920],
  lying: [1920, 1080],
  small: [800, 480],
} as const;
const PATIENCE_MS = 300_000;

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
  const options = { locale: "en-GB", javaScriptEnabled };
  const page = await browser?.newPage(options);
  if (!page) throw new Error("no browser");
  // Shorter than a test may take, because a test that takes too long ends all others of its file.
  page.setDefaultTimeout(PATIENCE_MS / 3);
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
      page,
      origin,
      requested,
      apply: roadbook.apply,
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
    expect(problems).toEqual([]);
  } finally {
    // Ends the page's timers, also after a failure, which would otherwise fail later tests, too.
    await page.goto("about:blank");
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
const rename = (html: string) => html.replace(/page-\w{12}/g, "page-0123456789ab");
/** What another kiosk, or a portal that knows one, shows for every address. */
const portal = () => new Response('<!doctype html><html class="kiosk"><h1>Log in</h1></html>');

/** Failures of a server or proxy, when a kiosk loads its first page ("at first") or later. */
const faults: Record<string, Fault> = {
  "a 502": () => new Response("<h1>Bad Gateway</h1>", { status: 502 }),
  "no response": hang,
  "a login page": (_, path) =>
    path === "/login" ? new Response("<h1>Log in</h1>") : Response.redirect("/login"),
  "a portal that says 200": portal,
  "half a page": halve,
  "half a page at first": halve,
  "no script at first": onlyFor(/js$/, missing),
  "a hanging script at first": onlyFor(/js$/, hang),
  "no style sheet at first": onlyFor(/css$/, missing),
  // What WebKit makes of an error.
  "an empty style sheet at first": onlyFor(/css$/, () => {
    return new Response("", { headers: { "content-type": "text/css" } });
  }),
  "another version": edit(rename),
  "another version without its script": (response, path) =>
    path.endsWith(".js") ? missing() : edit(rename)(response, path),
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
      await page.getByRole("link", { name: "Baltic Express", exact: true }).waitFor();
      const searches = requested.filter((path) => path.startsWith("/rb/?q="));
      expect(searches).toEqual(["/rb/?q=nowak", "/rb/?q=baltic"]);
      expect(requested.filter((path) => !path.startsWith("/rb"))).toEqual([]);
    },
  );

  testPage(
    "print shows messages, but no forms and links, and is light",
    {},
    async ({ page, origin }) => {
      await page.goto(`${origin}/?q=zzzzqq`);
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      expect(await page.getByText("Nobody by that name").isVisible()).toBeTrue();
      expect(await page.getByRole("search").isVisible()).toBeFalse();
      expect(await page.locator("main a").count()).toBe(1);
      expect(await page.locator("main a, footer").filter({ visible: true }).count()).toBe(0);
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      expect(paper).toBe("rgb(255, 255, 255)");
    },
  );

  testPage(
    "when the searches are used up, the page counts down, then offers to try again",
    { searchLimit: 1, kind: "with clock" },
    async ({ page, origin }) => {
      await page.goto(`${origin}/?q=nowak`);
      await searchFor(page, "baltic");
      const timer = page.getByRole("timer");
      expect(await timer.textContent()).toMatch(/^Next search in (60:00|59:\d\d)\.$/);
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
      await page.waitForURL("**/rb/drivers/45?q=anna+nowa");
      expect(await field.inputValue()).toBe("");
      await page.getByRole("link", { name: "Results" }).click();
      await page.waitForURL("**/rb/?q=anna+nowa");
      expect(await field.inputValue()).toBe("anna nowa");
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
      const main = page.locator("main");
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
        await page.waitForURL("**/drivers/42?q=nowak");
        await main.evaluate((element) => element.scrollTo(0, 9999));
        await page.getByRole("searchbox").fill("x");
        const resume = isDown && (await pauseServer());
        const failed = resume && page.waitForEvent("requestfailed");
        await page.clock.fastForward(91_000);
        if (resume) {
          await failed;
          // Nothing of the visit is left, even before the start page can be loaded.
          expect(page.url()).toBe(`${origin}/`);
          expect(await main.innerHTML()).toBe("");
          expect(await page.content()).not.toMatch(/nowak/i);
          await page.clock.runFor(2000);
          await page.locator(".moment").waitFor();
          resume();
          await page.clock.fastForward(11_000);
        }
        await page.getByRole("heading", { name: "Who is on the road" }).waitFor();
        const state = await page.evaluate(() => ({
          y: document.querySelector("main")?.scrollTop,
          typed: document.querySelector("input")?.value,
          path: location.pathname + location.search,
          entries: history.length,
        }));
        expect(state).toEqual({ y: 0, typed: "", path: "/", entries });
        const names = await page.locator(".card a").allTextContents();
        expect(names.sort()).toEqual(["Anna Nowak", "Łukasz Nowak"]);
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
      await page.getByText("Anna Nowak").waitFor();
      // Ignores the refused connections, which the browser logs.
      problems.splice(0);
    },
  );

  test.each([...Object.keys(faults), "no server", "no network", "another clock"])(
    "a kiosk comes back within 90 seconds from %s, and then does what was tapped last",
    async (name) => {
      const shown = { kiosk: true, size: "kiosk", kind: "with clock" } as const;
      // Nobody touches it for almost two minutes.
      const options = { ...shown, kioskIdle: "10m", searchLimit: 0, compress: false };
      const isFirst = name.endsWith("at first");
      const isAway = !["another version", "another clock"].includes(name);
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
          if (!isAway) {
            await page.waitForURL("**/drivers/42");
            // Until then, the script in the head expects that the other one will not run.
            await until(() => page.evaluate(() => document.readyState === "complete"));
          }
          await page.clock.runFor(2000);
          if (isAway) await page.getByText("One moment…").waitFor();
        }
        await page.clock.runFor(30_000);
        if (isAway) breakServer();
        resume?.();
        await page.context().setOffline(false);
        // In steps with time for a response, because the clock also rules timeouts.
        for (let at = 0; at < 80; at += 10) {
          await page.clock.runFor(10_000);
          await (await fetch(`${origin}/health`)).text();
          await Bun.sleep(100);
        }
        if (!isFirst) await page.waitForURL("**/drivers/42");
        if (isFirst) await page.locator("#q:focus").waitFor();
        await until(() => page.evaluate(() => document.styleSheets[0]?.cssRules.length));
        expect(await page.getByText("One moment…").isVisible()).toBeFalse();
        for (const name of ["A", "N"]) {
          await page.getByRole("button", { name, exact: true }).click();
        }
        await page.clock.runFor(1000);
        await page.waitForURL("**/?q=an");
        await page.getByRole("link", { name: "Anna Nowak" }).waitFor();
        const isOther = requested.includes("/assets/page-0123456789ab.js");
        expect(isOther).toBe(name.startsWith("another version"));
        // Ignores failed requests, which the browser logs, and what a script misses in half a page.
        const logged = /^Failed to load resource|MIME type|^\.soon$/;
        expect(problems.splice(0).filter((text) => !logged.test(text))).toEqual([]);
      });
    },
    PATIENCE_MS,
  );

  testPage(
    "a kiosk is not loaded again because its style sheet arrives after its script",
    { kiosk: true, size: "kiosk", kind: "with clock", compress: false },
    async ({ page, origin, requested, breakServer }) => {
      const { promise: isSent, resolve: send } = Promise.withResolvers<void>();
      // In Chromium, scripts do not wait for a style sheet for paper. In WebKit, for none.
      const onPaper = edit((html) => html.replace("stylesheet", 'stylesheet" media="print'));
      breakServer(async (response, path) => {
        if (path.endsWith(".css")) await isSent;
        return onPaper(response, path);
      });
      await page.goto(origin, { waitUntil: "commit" });
      await page.locator("#q:focus").waitFor();
      expect(await page.evaluate(() => document.styleSheets.length)).toBe(0);
      send();
      await until(() => page.evaluate(() => document.styleSheets.length === 1));
      await page.clock.runFor(70_000);
      expect(requested.filter((path) => path === "/")).toHaveLength(1);
    },
  );

  testPage(
    "a kiosk whose script never loads removes what a visitor has seen, too",
    { kiosk: true, kioskIdle: "90s", size: "kiosk", kind: "with clock" },
    async ({ page, origin, breakServer }) => {
      breakServer(onlyFor(/js$/, missing));
      await page.goto(`${origin}/drivers/42`);
      await page.getByRole("heading", { name: "Łukasz Nowak" }).waitFor();
      breakServer(portal);
      const asked = page.waitForResponse(/\/(drivers\/42)?$/);
      await page.clock.runFor(30_000);
      await (await asked).finished();
      await page.clock.runFor(95_000);
      expect(page.url()).toBe(`${origin}/`);
      expect(await page.locator("body").innerHTML()).toBe("");
      breakServer();
      await page.clock.fastForward(30_000);
      await page.locator("#q:focus").waitFor();
    },
  );

  testPage(
    "before a kiosk starts over, it says so and lets the visitor stay",
    { kiosk: true, kioskIdle: "90s", size: "small", kind: "with clock" },
    async ({ page, origin }) => {
      const bar = page.getByRole("alert");
      await page.goto(`${origin}/drivers/42`);
      // More than ten seconds are left.
      await page.clock.runFor(75_000);
      expect(await bar.isVisible()).toBeFalse();
      await page.clock.runFor(8000);
      expect(await bar.textContent()).toMatch(/^Starting over in \d … Stay here$/);
      expect(await bar.isVisible()).toBeTrue();
      await page.getByRole("button", { name: "Stay here" }).click();
      expect(await bar.isVisible()).toBeFalse();
      await page.clock.runFor(70_000);
      expect(page.url()).toBe(`${origin}/drivers/42`);
      await page.clock.runFor(25_000);
      await page.waitForURL(`${origin}/`);
      await page.clock.runFor(85_000);
      expect(await bar.isVisible()).toBeFalse();
    },
  );

  testPage(
    "a kiosk shows a pointer while a mouse moves, and none while fingers do",
    { kiosk: true, size: "kiosk", kind: "with clock" },
    async ({ page, origin }) => {
      const pointers = () =>
        page.$$eval("body, #q, .keys button, .card a", (elements) => [
          ...new Set(elements.map((element) => getComputedStyle(element).cursor)),
        ]);
      await page.goto(origin);
      await page.clock.runFor(3000);
      expect(await pointers()).toEqual(["none"]);
      await page.mouse.move(20, 20);
      await page.mouse.move(40, 40);
      expect(await pointers()).not.toContain("none");
      await page.clock.runFor(3000);
      expect(await pointers()).toEqual(["none"]);
      await page.locator("main").dispatchEvent("pointermove", { pointerType: "touch" });
      expect(await pointers()).toEqual(["none"]);
    },
  );

  /** The boxes of what visitors touch, rounded to whole pixels. */
  const boxesOf = (page: Page, selector: string) =>
    page.$$eval(selector, (elements) =>
      elements.map((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return [x, y, width, height].map(Math.round).join();
      }),
    );

  test.each(["kiosk", "lying", "small"] as const)(
    "on a kiosk (%s), every control keeps its place, in sight and in reach of a hand",
    (size) =>
      open(
        { kiosk: true, size, searchLimit: 0, demo: true, dataset: undefined },
        async (opened) => {
          const { page, origin } = opened;
          const [width, height] = sizes[size];
          const controls =
            size === "small" ? ".plate, #q, .bar a" : ".plate, form, .keys button, .bar a";
          await page.goto(origin);
          const start = await boxesOf(page, controls);
          const languages = await boxesOf(page, ".bar button");
          for (const name of ["A", "N"])
            await page.getByRole("button", { name, exact: true }).click();
          await page.waitForURL("**/?q=an");
          expect(await boxesOf(page, controls)).toEqual(start);
          await page.goto(`${origin}/drivers/42`);
          await page.locator("main").evaluate((element) => element.scrollTo(0, 99_999));
          expect(await boxesOf(page, controls)).toEqual(start);
          expect(await boxesOf(page, ".bar button")).toEqual(languages);
          for (const box of [...start, ...languages]) {
            const [x = 0, y = 0, wide = 0, high = 0] = box.split(",").map(Number);
            expect(Math.min(x, y, width - x - wide, height - y - high)).toBeGreaterThanOrEqual(0);
          }
          // On a totem, the keys are in the lower half.
          const keys = await boxesOf(page, ".keys button");
          if (size === "kiosk")
            for (const box of keys) expect(Number(box.split(",")[1])).toBeGreaterThan(height / 2);
          // On the start page, too, which has nothing to lead back to.
          expect(await boxesOf(page, ".bar a")).toHaveLength(2);
          // The languages are in one row, which ends where the row of keys ends.
          expect(new Set(languages.map((box) => box.split(",")[1])).size).toBe(1);
        },
      ),
    PATIENCE_MS,
  );

  testPage(
    "on a small kiosk, the keys fold away after a search and come back at a tap on the field",
    { kiosk: true, size: "small", searchLimit: 0, kind: "with clock" },
    async ({ page, origin }) => {
      const keys = page.locator(".keys");
      const bottomOf = async (text: string) => {
        const box = await page.getByText(text, { exact: true }).first().boundingBox();
        return (box?.y ?? 0) + (box?.height ?? 0);
      };
      await page.goto(origin);
      expect(await keys.isVisible()).toBeTrue();
      // A whole card is above the keys, and above what fades there.
      const card = await page.locator(".card").first().boundingBox();
      const room = (await keys.boundingBox())?.y ?? 0;
      expect((card?.y ?? 0) + (card?.height ?? 0)).toBeLessThan(room - 40);
      for (const name of ["N", "O", "W"])
        await page.getByRole("button", { name, exact: true }).click();
      await page.clock.runFor(1000);
      // "no" finds her, too, if the keys were pressed slowly, and its page is soon replaced.
      await page.waitForURL("**/?q=now");
      await page.getByRole("link", { name: "Anna Nowak" }).waitFor();
      // While the visitor types, a result is in sight above the keys.
      const top = (await keys.boundingBox())?.y ?? 0;
      expect((await page.locator(".board a").first().boundingBox())?.y).toBeLessThan(top - 40);
      await page.getByRole("button", { name: "Search" }).click();
      expect(await keys.isVisible()).toBeFalse();
      await page.getByRole("searchbox").click();
      expect(await keys.isVisible()).toBeTrue();
      // So does a pause, or a tap on what was found.
      await page.getByRole("button", { name: "A", exact: true }).click();
      await page.clock.runFor(1000);
      await page.waitForURL("**/?q=nowa");
      await page.clock.runFor(5000);
      expect(await keys.isVisible()).toBeFalse();
      await page.goto(`${origin}/drivers/42`);
      expect(await keys.isVisible()).toBeFalse();
      expect(await bottomOf("Achievements")).toBeLessThan(480);
      const bar = await page.locator(".bar").boundingBox();
      expect(await page.locator(".badges li").first().boundingBox()).toMatchObject({
        y: expect.any(Number),
      });
      const badge = (await page.locator(".badges li").first().boundingBox())?.y ?? 0;
      expect(badge).toBeLessThan((bar?.y ?? 0) - 20);
    },
  );

  testPage(
    "on a small kiosk, the title is the largest text",
    { kiosk: true, size: "small" },
    async ({ page, origin }) => {
      await page.goto(origin);
      const sizesOf = (selector: string) =>
        page.$$eval(selector, (elements) =>
          elements.map((element) => Number.parseFloat(getComputedStyle(element).fontSize)),
        );
      const [title = 0] = await sizesOf("h1");
      const rest = await sizesOf("main :not(h1, svg, svg *)");
      expect(title).toBeGreaterThan(Math.max(...rest));
    },
  );

  test.each([
    ["phone", false],
    ["desktop", false],
    ["kiosk", true],
    ["lying", true],
    ["small", true],
  ] as const)(
    "a date is never broken, and begins a line below the points of an achievement (%s, kiosk: %p)",
    (size, kiosk) =>
      open({ size, kiosk }, async ({ page, origin, apply }) => {
        // A long role, and a sign that leaves little room.
        await apply([
          { type: "company", id: 3, name: "Baltic Express ".repeat(8), member_count: 1 },
          { type: "role", id: 1, name: "Event Organiser ".repeat(8), hierarchy: 10 },
        ]);
        await page.goto(`${origin}/drivers/42`);
        const dates = await page.$$eval("time", (times) =>
          times.map((time) => [time.closest("dd") !== null, time.getClientRects().length]),
        );
        expect(dates[0]).toEqual([true, 1]);
        expect(dates.length).toBeGreaterThan(1);
        for (const [, lines] of dates) expect(lines).toBe(1);
        const gaps = await page.$$eval("h3 ~ .dots:has(time)", (lists) =>
          lists.map((list) => {
            const above = list.previousElementSibling?.getBoundingClientRect().bottom ?? Infinity;
            const first = list.firstElementChild;
            return first?.querySelector("time") ? first.getBoundingClientRect().top - above : NaN;
          }),
        );
        expect(gaps.length).toBe(dates.length - 1);
        for (const gap of gaps) expect(gap).toBeGreaterThan(-2);
      }),
    PATIENCE_MS,
  );

  testPage(
    "typing on a small kiosk leads back up",
    {
      kiosk: true,
      size: "small",
      searchLimit: 0,
      demo: true,
      dataset: undefined,
      featured: undefined,
    },
    async ({ page, origin }) => {
      const main = page.locator("main");
      await page.goto(origin);
      await main.evaluate((element) => element.scrollTo(0, 9999));
      expect(await main.evaluate((main) => main.scrollTop)).toBeGreaterThan(0);
      await page.getByRole("button", { name: "A", exact: true }).click();
      expect(await main.evaluate((main) => main.scrollTop)).toBe(0);
    },
  );

  testPage(
    "a tap beside the field's cross, where a finger lands, empties the field",
    { kiosk: true, size: "small", searchLimit: 0 },
    async ({ page, origin }) => {
      await page.goto(`${origin}/?q=nowak`);
      const field = page.getByRole("searchbox");
      const box = await field.boundingBox();
      if (!box) throw new Error("no field");
      // The box around the cross, which ends at the padding of the field.
      const [padding = 0, fontSize = 0] = await field.evaluate((input) => {
        const { paddingRight, fontSize } = getComputedStyle(input);
        return [Number.parseFloat(paddingRight), Number.parseFloat(fontSize)];
      });
      const size = 2.4 * fontSize;
      expect(size).toBeGreaterThanOrEqual(44);
      const right = box.x + box.width - padding;
      for (const [dx, dy] of [
        [6, 6],
        [size - 6, size - 6],
      ] as const) {
        await field.fill("nowak");
        await page.mouse.click(right - dx, box.y + box.height / 2 - size / 2 + dy);
        expect(await field.inputValue()).toBe("");
      }
    },
  );

  test.each(["kiosk", "lying", "small", "desktop"] as const)(
    "results (%s) are set in one size, names in a row stand at one height, and no board has blank space",
    (size) =>
      open({ kiosk: size !== "desktop", size, searchLimit: 0 }, async ({ page, origin, apply }) => {
        const without = { ...user(46, "Nobody"), company: null };
        await apply([without, { type: "company", id: 9, name: "Nobody & Sons", member_count: 1 }]);
        await page.goto(`${origin}/?q=no`);
        const fontSizes = await page.$$eval(".board a", (links) =>
          links.map((link) => getComputedStyle(link).fontSize),
        );
        expect(fontSizes.length).toBeGreaterThan(3);
        expect(new Set(fontSizes).size).toBe(1);
        // Each driver has a second line, so that the first ones are level.
        const heights = await page.$$eval(".board .avatar", (avatars) =>
          avatars.map((avatar) => {
            const name = avatar.nextElementSibling?.querySelector("a")?.getBoundingClientRect();
            return Math.round((name?.y ?? 0) - avatar.getBoundingClientRect().y);
          }),
        );
        expect(new Set(heights).size).toBe(1);
        const blank = await page.$$eval("main > section", (boards) =>
          boards.map((board) => {
            const end = board.lastElementChild?.getBoundingClientRect().bottom ?? 0;
            return Math.round(board.getBoundingClientRect().bottom - end);
          }),
        );
        expect(blank).toEqual([0, 0]);
      }),
    PATIENCE_MS,
  );

  testPage(
    "a 4K screen looks like one of a quarter of its pixels: used from side to side, and downwards",
    { demo: true, dataset: undefined, featured: undefined },
    async ({ page, origin }) => {
      await page.goto(origin);
      const measure = () =>
        page.evaluate(() => ({
          width: document.body.offsetWidth / innerWidth,
          height:
            (document.querySelector(".cards")?.getBoundingClientRect().bottom ?? 0) / innerHeight,
          size: Number.parseFloat(getComputedStyle(document.body).fontSize),
        }));
      await page.setViewportSize({ width: 1920, height: 1080 });
      const { size } = await measure();
      await page.setViewportSize({ width: 3840, height: 2160 });
      const large = await measure();
      expect(large.width).toBeGreaterThan(0.7);
      expect(large.height).toBeGreaterThan(0.7);
      expect(large.size).toBeGreaterThan(1.75 * size);
    },
  );

  test.each([
    ["desktop", false],
    ["lying", false],
    ["lying", true],
  ] as const)(
    "a wide screen (%s, kiosk: %p) shows the facts beside the driver's sign",
    (size, kiosk) =>
      open({ size, kiosk }, async ({ page, origin }) => {
        const boxOf = async (selector: string) => {
          const box = await page.locator(selector).boundingBox();
          if (!box) throw new Error(`no ${selector}`);
          return box;
        };
        await page.goto(`${origin}/drivers/42`);
        const sign = await boxOf(".sign");
        const facts = await boxOf(".facts");
        expect(sign.x + sign.width).toBeLessThan(facts.x);
        expect(facts.y).toBeLessThan(sign.y + sign.height);
        // The text takes at least half of the sign.
        const [name] = await page.$$eval(".sign h1", (headings) => {
          const range = document.createRange();
          return headings.map((heading) => {
            range.selectNodeContents(heading);
            return range.getBoundingClientRect().right;
          });
        });
        expect(name).toBeGreaterThan(sign.x + sign.width / 2);
      }),
  );

  testPage(
    "after a long company, the role is on the company's last line",
    { size: "phone" },
    async ({ page, origin, apply }) => {
      await apply([{ type: "company", id: 3, name: "Baltic Express ".repeat(8), member_count: 1 }]);
      for (const width of [320, 390, 640, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await page.goto(`${origin}/drivers/42`);
        const [company, comma] = await page.locator(".sign p").evaluate((line) => {
          const range = document.createRange();
          const text = [...line.childNodes].find((node) => node.textContent === ", ");
          if (text) range.setStart(text, 0);
          if (text) range.setEnd(text, 1);
          const lines = [...(line.querySelector("bdi")?.getClientRects() ?? [])];
          return [lines.at(-1)?.bottom, range.getBoundingClientRect().bottom];
        });
        expect(Math.round(comma ?? 0)).toBe(Math.round(company ?? 1));
      }
    },
  );

  test.each(["#ffffff", "#fffdf0", "#000000", undefined])(
    "with the accent %s, rules and keys stand out from the page in both modes",
    (accent) =>
      open({ kiosk: true, accent, size: "kiosk", searchLimit: 0 }, async ({ page, origin }) => {
        await page.goto(origin);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          const contrasts = await page.evaluate(() => {
            const luminanceOf = (colour: string) => {
              const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((text) => {
                const value = Number(text) / 255;
                return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
              });
              return 0.05 + 0.2126 * red + 0.7152 * green + 0.0722 * blue;
            };
            const paper = luminanceOf(getComputedStyle(document.body).backgroundColor);
            const contrastOf = (
              selector: string,
              property: "backgroundColor" | "borderTopColor",
              part?: "::before",
            ) => {
              const element = document.querySelector(selector);
              const style = element && getComputedStyle(element, part);
              const ratio = style ? luminanceOf(style[property]) / paper : 1;
              return Math.max(ratio, 1 / ratio);
            };
            return {
              rule: contrastOf("h2", "borderTopColor"),
              // A sign keeps a pale accent, and is shown by the line inside its edge.
              plate: Math.max(
                contrastOf(".plate", "backgroundColor"),
                contrastOf(".plate", "borderTopColor", "::before"),
              ),
              key: contrastOf(".keys button", "borderTopColor"),
            };
          });
          expect(contrasts.key).toBeGreaterThanOrEqual(3);
          // Yellow stands out by its colour.
          const minimum = accent || colorScheme === "dark" ? 3 : 1.5;
          for (const contrast of [contrasts.rule, contrasts.plate])
            expect(contrast).toBeGreaterThanOrEqual(minimum);
        }
      }),
    PATIENCE_MS,
  );

  testPage(
    "without JavaScript, the docs point to the document",
    { kind: "without script", title: "Nord" },
    async ({ page, origin }) => {
      await page.goto(`${origin}/docs`);
      expect(await page.title()).toBe("API · Nord");
      expect(await (await fetch(`${origin}/docs/json`)).json()).toMatchObject({
        info: { title: "Nord" },
      });
      await page.getByRole("link", { name: "OpenAPI document" }).click();
      await page.waitForURL("**/docs/json");
    },
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
              .filter((element) => element.checkVisibility())
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
