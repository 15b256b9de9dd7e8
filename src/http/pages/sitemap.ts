/** The sitemap: the companies that have public drivers, and the public drivers. */
import { setImmediate as nextTick } from "node:timers/promises";
import { Elysia } from "elysia";
import { Once } from "../../domain/once.ts";
import type { Snapshot } from "../../snapshot/read/reload.ts";
import { html } from "../../web/html.ts";
import { companyPath, driverPath, SITEMAP_PATH } from "../../web/page-paths.ts";
import type { Service } from "../app-options.ts";
import { Content } from "../content.ts";

/** The most addresses that a sitemap may have (https://www.sitemaps.org/protocol.html). */
const MAX_ADDRESSES = 50_000;
const IDS_PER_TICK = 1000;

export function sitemap({ currentSnapshot, baseUrl }: Service) {
  let listed: Snapshot | undefined;
  let paths: Once<string[]>;

  return new Elysia({ strictPath: true }).get(SITEMAP_PATH, async ({ request }) => {
    const snapshot = currentSnapshot();
    // Read once, because that takes 20 ms.
    if (snapshot !== listed) paths = new Once(() => listPaths(currentSnapshot));
    listed = snapshot;

    // Escaped and joined once, because there are thousands of addresses.
    const start = html`\n<url><loc>${baseUrl(request)}`.text;
    const end = "</loc></url>";
    const found = await paths.get();
    const urls = found.length > 0 ? start + found.join(end + start) + end : "";
    const text = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls}
</urlset>
`;
    return new Content("application/xml; charset=utf-8", text, { cache: "public" });
  });
}

/** Lists the paths of the pages, the lowest ids first. */
async function listPaths(current: Service["currentSnapshot"]): Promise<string[]> {
  const companies = await listIds((after, limit) => current().companies.listIds(after, limit));
  const users = await listIds((after, limit) => current().users.listIds(after, limit));
  return [...companies.map(companyPath), ...users.map(driverPath)].slice(0, MAX_ADDRESSES);
}

/** Reads some ids in each tick. If a newer snapshot comes meanwhile, it gets a list of its own. */
async function listIds(read: (after: number, limit: number) => number[]): Promise<number[]> {
  const ids: number[] = [];
  for (;;) {
    await nextTick();
    const some = read(ids.at(-1) ?? 0, IDS_PER_TICK);
    ids.push(...some);
    if (some.length < IDS_PER_TICK || ids.length >= MAX_ADDRESSES) return ids;
  }
}
