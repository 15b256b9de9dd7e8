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
  const paths = new Paths(currentSnapshot);
  return new Elysia({ strictPath: true }).get(SITEMAP_PATH, async ({ request }) => {
    const listed = await paths.read();
    // Escaped and joined once, because there are thousands of addresses.
    const start = html`\n<url><loc>${baseUrl(request)}`.text;
    const end = "</loc></url>";
    const urls = listed.length > 0 ? start + listed.join(end + start) + end : "";
    const text = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls}
</urlset>
`;
    return new Content("application/xml; charset=utf-8", text, { cache: "public" });
  });
}

/** The paths of the pages, lowest ids first. They are read once, because that takes 20 ms. */
class Paths {
  readonly #current: Service["currentSnapshot"];
  #snapshot: Snapshot | undefined;
  #paths = new Once(() => this.#list());

  constructor(current: Service["currentSnapshot"]) {
    this.#current = current;
  }

  read(): Promise<string[]> {
    const snapshot = this.#current();
    if (snapshot !== this.#snapshot) this.#paths = new Once(() => this.#list());
    this.#snapshot = snapshot;
    return this.#paths.get();
  }

  async #list(): Promise<string[]> {
    const companies = await this.#listIds("companies", MAX_ADDRESSES);
    const users = await this.#listIds("users", MAX_ADDRESSES - companies.length);
    return [...companies.map(companyPath), ...users.map(driverPath)];
  }

  /** Reads some ids in each tick. If a newer snapshot comes meanwhile, it gets a list of its own. */
  async #listIds(kind: "companies" | "users", limit: number): Promise<number[]> {
    const ids: number[] = [];
    for (;;) {
      await nextTick();
      const size = Math.min(IDS_PER_TICK, limit - ids.length);
      const part = this.#current()[kind].listIds(ids.at(-1) ?? 0, size);
      ids.push(...part);
      if (part.length < IDS_PER_TICK) return ids;
    }
  }
}
