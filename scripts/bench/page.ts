/**
 * The first screen of the page: from the request to the first paint in headless Chromium with an empty
 * cache, beside a static file of the same bytes. `bun run bench page [--rounds N]`.
 */
import { parseArgs } from "node:util";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../../test/browser.ts";
import { openExecutable } from "../../test/support.ts";
import { alternate, median } from "./measure.ts";

const paths = ["/", "/?q=nowak", "/drivers/42"];

export async function benchPage(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { rounds: { type: "string", default: "15" } } });
  const rounds = Number(values.rounds);
  const target = await openExecutable(["--search-limit", "0"]);
  const browser = await launchBrowser();
  try {
    for (const path of paths) {
      const other = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        routes: await copyOf(target.origin, path),
      });
      const origins = { ours: target.origin, fixed: other.url.origin };
      // The first of each warms the browser up.
      for (const origin of Object.values(origins)) await load(browser, origin + path);
      const loads = await alternate(rounds, origins, (origin) => load(browser, origin + path));
      await other.stop(true);
      const medianOf = (origin: keyof typeof origins, key: keyof Load) =>
        median(loads(origin).map((load) => load[key]));
      const [paint, fixedPaint] = [medianOf("ours", "firstPaint"), medianOf("fixed", "firstPaint")];
      console.log(
        `${path.padEnd(12)} document ${ms(medianOf("ours", "responseEnd"))}, first paint ${ms(paint)}, ` +
          `all ${ms(medianOf("ours", "loadEnd"))}; static: first paint ${ms(fixedPaint)}; ` +
          `ratio ${(paint / fixedPaint).toFixed(2)}`,
      );
    }
  } finally {
    await browser.close();
    await target.close();
  }
}

/** What the page and all that it loads are now, in memory, by path. */
async function copyOf(origin: string, path: string): Promise<Record<string, Response>> {
  const copy = async (file: string) => {
    const response = await fetch(origin + file, { headers: { accept: "text/html,*/*" } });
    const type = response.headers.get("content-type") ?? "";
    return new Response(await response.bytes(), { headers: { "content-type": type } });
  };
  const page = await copy(path);
  const html = await page.clone().text();
  const files = { [new URL(path, origin).pathname]: page };
  for (const [, file = ""] of html.matchAll(
    /(?:src|href)="(\/(?:assets|avatars|icons|favicon)[^"]*)"/g,
  ))
    files[file] ??= await copy(file);
  return files;
}

type Load = Awaited<ReturnType<typeof load>>;

/** One load in a context of its own, whose cache is empty: in milliseconds since it began. */
async function load(browser: Browser, url: string) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    await page.goto(url, { waitUntil: "load" });
    return await page.evaluate(async () => {
      const firstPaint = await new Promise<number>((resolve) => {
        new PerformanceObserver((list) => {
          const paint = list.getEntriesByName("first-contentful-paint")[0];
          if (paint) resolve(paint.startTime);
        }).observe({ type: "paint", buffered: true });
      });
      const [entry] = performance.getEntriesByType("navigation");
      const { responseEnd = 0, loadEventStart = 0 } = entry as PerformanceNavigationTiming;
      return { responseEnd, firstPaint, loadEnd: loadEventStart };
    });
  } finally {
    await context.close();
  }
}

const ms = (value: number) => `${value.toFixed(0)} ms`;
