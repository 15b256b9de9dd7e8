/**
 * The page and the kiosk in Firefox and WebKitGTK. Facts that hold in all browsers are in
 * page.exe.test.ts. These are a visitor's day, and what differed once.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createRoadbook } from "../../src/roadbook.ts";
import type { RoadbookOptions } from "../../src/settings/library-options.ts";
import { launchBrowser, tryBrowser } from "../browser.ts";
import { user } from "../datasets.ts";
import { fixture, tryProgram, until } from "../support.ts";
import { openFirefox, openWebKit, tap, tapAt, type, type WebDriver } from "../web-driver.ts";

const PATIENCE_MS = 300_000;
const sizes = { desktop: [1280, 800], kiosk: [1080, 1920], small: [800, 480] } as const;

const hasFirefox = tryProgram("firefox-esr");
const hasWebKit = ["WebKitWebDriver", "Xvfb"].map(tryProgram).every(Boolean);

interface Served extends AsyncDisposable {
  origin: string;
  requested: string[];
  /** Changes every response that the server gives from now on. */
  change: (response: Response, path: string) => Response | Promise<Response>;
  stop(): Promise<void>;
  start(): void;
}

async function serve(options: RoadbookOptions): Promise<Served> {
  const roadbook = await createRoadbook({ page: true, searchLimit: 0, ...options });
  const listen = (port: number) =>
    Bun.serve({
      hostname: "127.0.0.1",
      port,
      async fetch(request) {
        const path = request.url.slice(served.origin.length);
        served.requested.push(path);
        return served.change(await roadbook.fetch(request, "192.0.2.1"), path);
      },
    });
  let server = listen(0);
  const served: Served = {
    origin: server.url.origin,
    requested: [],
    change: (response) => response,
    stop: () => server.stop(true),
    start() {
      server = listen(Number(new URL(served.origin).port));
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      roadbook.close();
    },
  };
  return served;
}

/** The boxes of elements, in pixels. */
function measure(selector: string): number[][] {
  return Array.from(document.querySelectorAll(selector), (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height];
  });
}

/** Where the page is, and what its heading says. */
async function stateOf(driver: WebDriver): Promise<[path: string, heading: string]> {
  return driver.evaluate(() => [
    location.pathname + location.search,
    document.querySelector("h1")?.textContent ?? "",
  ]);
}

function untilAt(driver: WebDriver, path: string, heading: string) {
  return until(async () => {
    const [at, shown] = await stateOf(driver);
    return at === path && shown === heading;
  });
}

const isVisible = (driver: WebDriver, selector: string) =>
  driver.evaluate(
    (selector) => document.querySelector(selector)?.checkVisibility() ?? false,
    selector,
  );

const typedIn = (driver: WebDriver) =>
  driver.evaluate(() => document.querySelector("input")?.value);

const controls = "form, input, .field button, .keys button";
const boxes = `${controls}, h1, h2, .plate, .bar > *, .card, .board li`;

describe.each([
  ["Firefox", hasFirefox, openFirefox, { compared: boxes, pixels: 1 }],
  // Letters have other widths, with some fonts by 2.2 pixels a word, and on a small screen the name is
  // left of the field.
  ["WebKitGTK", hasWebKit, openWebKit, { compared: controls, pixels: 3 }],
] as const)("in %s", (_, isThere, open, { compared, pixels }) => {
  let driver: WebDriver;
  beforeAll(async () => {
    if (isThere) driver = await open();
  }, PATIENCE_MS);
  afterAll(() => driver?.[Symbol.asyncDispose]());

  function testPage(name: string, use: () => Promise<void>): void {
    test.skipIf(!isThere)(name, use, PATIENCE_MS);
  }

  testPage("a small kiosk's visitor types on the keys, looks at drivers and leaves", async () => {
    await using served = await serve({ kiosk: true, dataset: fixture });
    await driver.goto(served.origin);
    await driver.resize(800, 480);
    expect(await driver.evaluate(() => document.hasFocus())).toBeFalse();
    expect(await isVisible(driver, ".keys")).toBeTrue();
    for (const key of ["N", "O", "X", "Backspace", "W"]) await tap(driver, ".keys button", key);
    await untilAt(driver, "/?q=now", "Results for “now”");
    expect(await isVisible(driver, ".keys")).toBeTrue();
    await tap(driver, "form button");
    expect(await isVisible(driver, ".keys")).toBeFalse();
    await tap(driver, "#q");
    expect(await isVisible(driver, ".keys")).toBeTrue();
    await type(driver, "ak");
    await untilAt(driver, "/?q=nowak", "Results for “nowak”");
    await tap(driver, ".board a", "Anna Nowak");
    await untilAt(driver, "/drivers/45?q=nowak", "Anna Nowak");
    expect(await isVisible(driver, ".keys")).toBeFalse();
    await tap(driver, "#back");
    await untilAt(driver, "/?q=nowak", "Results for “nowak”");
    await tap(driver, ".bar button", "Français");
    await until(async () => (await stateOf(driver))[1].startsWith("Résultats pour"));
    await tap(driver, ".bar a", "Accueil");
    await untilAt(driver, "/", "Qui est sur la route");
    expect(await typedIn(driver)).toBe("");
    await tap(driver, ".bar button", "English");
    await untilAt(driver, "/", "Who is on the road");
  });

  testPage(
    "a kiosk removes what a visitor left while its server is down, and comes back",
    async () => {
      await using served = await serve({ kiosk: true, kioskIdle: "15s", dataset: fixture });
      await driver.goto(`${served.origin}/drivers/42`);
      await tap(driver, ".bar button", "Polski");
      await until(() => driver.evaluate(() => document.documentElement.lang === "pl"));
      await served.stop();
      await until(async () => (await stateOf(driver))[0] === "/");
      expect(await driver.evaluate(() => document.querySelector("main")?.innerHTML)).toBe("");
      await until(() => isVisible(driver, ".moment"));
      served.start();
      await untilAt(driver, "/", "Who is on the road");
      await until(() => isVisible(driver, ".card"));
    },
  );

  testPage(
    "a kiosk is reloaded after a style sheet failed, but not after one that is slow",
    async () => {
      await using served = await serve({
        kiosk: true,
        kioskIdle: "10m",
        compress: false,
        dataset: fixture,
      });
      let styles = 0;
      served.change = async (response, path) => {
        // Shows whether the script in the head has ended.
        const ended = "addEventListener('kiosk', () => document.body.classList.add('ended'));";
        if (path.endsWith(".js")) return new Response(ended + (await response.text()), response);
        if (!path.endsWith(".css")) return response;
        styles++;
        // In WebKit, the script runs before the style sheet is there.
        await Bun.sleep(20);
        return styles === 1 ? new Response("", { status: 404 }) : response;
      };
      await driver.goto(served.origin);
      const isEnded = () => document.body.classList.contains("ended");
      expect(await driver.evaluate(isEnded)).toBeFalse();
      // While the page is reloaded, it has no body.
      await until(() => driver.evaluate(isEnded).catch(() => false), 90_000);
      const isStyled = () => getComputedStyle(document.body).display === "grid";
      expect(await driver.evaluate(isStyled)).toBeTrue();
    },
  );

  test.skipIf(!isThere || !tryBrowser)(
    "controls are where they are in Chromium, and so is all else in Firefox",
    async () => {
      await using chromium = await launchBrowser();
      const page = await chromium.newPage({ locale: "en-US", reducedMotion: "reduce" });
      for (const [size, [width, height]] of Object.entries(sizes)) {
        await using served = await serve({ kiosk: size !== "desktop", dataset: fixture });
        await page.setViewportSize({ width, height });
        for (const path of ["/", "/?q=now", "/drivers/42"]) {
          await page.goto(served.origin + path);
          await driver.goto(served.origin + path);
          await driver.resize(width, height);
          const expected = await page.evaluate(measure, compared);
          const found = await driver.evaluate(measure, compared);
          const differences = found.flat().map((value, at) => value - (expected.flat()[at] ?? NaN));
          expect(expected.length).toBeGreaterThan(2);
          expect([path, size, found.length]).toEqual([path, size, expected.length]);
          expect(Math.max(...differences.map(Math.abs))).toBeLessThanOrEqual(pixels);
        }
      }
    },
    PATIENCE_MS,
  );

  testPage("no letter of a name is cut off", async () => {
    await using served = await serve({ dataset: [{ ...user(1, "Ng\u0331"), achievements: [] }] });
    await driver.goto(served.origin);
    await driver.resize(...sizes.desktop);
    const show = async (overflow: string) => {
      await driver.evaluate((overflow) => {
        const name = document.querySelector<HTMLElement>(".card a");
        if (name) name.style.overflow = overflow;
      }, overflow);
      return driver.screenshot();
    };
    // A picture may be taken before the page is painted.
    await until(async () => (await show("hidden")) === (await show("visible")), 10_000);
  });

  testPage("a kiosk's text cannot be selected", async () => {
    await using served = await serve({ kiosk: true, dataset: fixture });
    await driver.goto(served.origin);
    await driver.evaluate(() => getSelection()?.selectAllChildren(document.body));
    expect(await driver.evaluate(() => String(getSelection()).trim())).toBe("");
    const [[x = 0, y = 0] = []] = await driver.evaluate(measure, "h1");
    await tapAt(driver, Math.round(x) + 5, Math.round(y) + 5);
    await tapAt(driver, Math.round(x) + 5, Math.round(y) + 5);
    expect(await driver.evaluate(() => String(getSelection()).trim())).toBe("");
  });

  testPage("searches, links, Back and the countdown work", async () => {
    await using served = await serve({ dataset: fixture, searchLimit: 1 });
    await driver.goto(served.origin);
    await tap(driver, "#q");
    await type(driver, "nowak");
    await tap(driver, "form button");
    await untilAt(driver, "/?q=nowak", "Results for “nowak”");
    await tap(driver, ".board a", "Anna Nowak");
    await untilAt(driver, "/drivers/45", "Anna Nowak");
    await driver.evaluate(() => {
      setTimeout(() => history.back());
    });
    await untilAt(driver, "/?q=nowak", "Results for “nowak”");
    await driver.goto(`${served.origin}/?q=baltic`);
    await until(() => driver.evaluate(() => /59:\d\d/.test(document.body.textContent)));
  });

  testPage("the docs show the endpoints, and no notice", async () => {
    await using served = await serve({ dataset: fixture });
    await driver.goto(`${served.origin}/docs`);
    await until(() =>
      driver.evaluate(() => document.body.textContent.includes("Get a public user profile")),
    );
    expect(await isVisible(driver, "body > p")).toBeFalse();
  });
});

test.skipIf(!hasWebKit)(
  "WebKitGTK without accelerated compositing, as on some small computers, navigates",
  async () => {
    await using driver = await openWebKit({ WEBKIT_DISABLE_COMPOSITING_MODE: "1" });
    await using served = await serve({ dataset: fixture, featured: [42] });
    await driver.goto(served.origin);
    await tap(driver, ".card a");
    await untilAt(driver, "/drivers/42", "Łukasz Nowak");
  },
  PATIENCE_MS,
);

test.skipIf(!hasWebKit)(
  "in WebKitGTK, a tap on the field's cross empties the field",
  async () => {
    await using driver = await openWebKit();
    await using served = await serve({ dataset: fixture });
    await driver.goto(`${served.origin}/?q=nowak`);
    const [[x = 0, y = 0, width = 0, height = 0] = []] = await driver.evaluate(measure, "#q");
    await tapAt(driver, Math.round(x + width - 30), Math.round(y + height / 2));
    expect(await typedIn(driver)).toBe("");
  },
  PATIENCE_MS,
);
