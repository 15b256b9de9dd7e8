/**
 * The first screen of the page: from the request to the first paint in headless Chromium with an empty
 * cache, beside a static file of the same bytes. `bun run bench page [--rounds N]`.
 */
import { parseArgs } from "node:util";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../../test/browser.ts";
import { openExecutable } from "../../test/support.ts";
import { alternate, median } from "./measure.ts";

/** What the browser says of one load, in milliseconds since it began. */
interface Load {
  responseEnd: number;
  firstPaint: number;
  loadEnd: number;
}

const paths = ["/", "/?q=nowak", "/drivers/42"];

export async function benchPage(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { rounds: { type: "string", default: "15" } } });
  const rounds = Number(values.rounds);
  const target = await openExecutable(["--search-limit", "0"]);
  const browser = await launchBrowser();
  try {
    for (const path of paths) {
      const files = await copyOf(target.origin, path);
      const other = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch({ url }) {
          const { pathname, search } = new URL(url);
          return files(pathname + search);
        },
      });
      const origins = { ours: target.origin, fixed: other.url.origin };
      // The first of each warms the browser up.
      for (const origin of Object.values(origins)) await load(browser, origin + path);
      const loads = await alternate(rounds, origins, (origin) => load(browser, origin + path));
      await other.stop(true);
      const [ours, fixed] = [loads("ours"), loads("fixed")];
      const paints = [medianOf(ours, "firstPaint"), medianOf(fixed, "firstPaint")] as const;
      console.log(
        `${path.padEnd(12)} document ${ms(medianOf(ours, "responseEnd"))}, first paint ${ms(paints[0])}, ` +
          `all ${ms(medianOf(ours, "loadEnd"))}; static: first paint ${ms(paints[1])}; ` +
          `ratio ${(paints[0] / paints[1]).toFixed(2)}`,
      );
    }
  } finally {
    await browser.close();
    await target.close();
  }
}

/** Serves what the page and all that it loads are now, from memory. */
async function copyOf(origin: string, path: string): Promise<(path: string) => Response> {
  const files = new Map<string, { bytes: Uint8Array<ArrayBuffer>; type: string }>();
  const add = async (file: string) => {
    const response = await fetch(origin + file, { headers: { accept: "text/html,*/*" } });
    const type = response.headers.get("content-type") ?? "";
    const bytes = new Uint8Array(await response.arrayBuffer());
    files.set(file, { bytes, type });
    return new TextDecoder().decode(bytes);
  };
  const html = await add(path);
  const loaded = [...html.matchAll(/(?:src|href)="(\/(?:assets|avatars|icons|favicon)[^"]*)"/g)];
  for (const [, file = ""] of loaded) if (!files.has(file)) await add(file);
  return (asked) => {
    const file = files.get(asked);
    return file
      ? new Response(file.bytes, { headers: { "content-type": file.type } })
      : new Response(null, { status: 404 });
  };
}

/** One load in a context of its own, whose cache is empty. */
async function load(browser: Browser, url: string): Promise<Load> {
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

const medianOf = (loads: Load[], key: keyof Load) => median(loads.map((load) => load[key]));

const ms = (value: number) => `${value.toFixed(0)} ms`;
