/** The sitemap of all public drivers, for search engines: an index and its pages. */
import { type AnyElysia, Elysia } from "elysia";
import { Html, html } from "../web/html.ts";
import { Content, fail } from "./result.ts";
import type { Service } from "./service.ts";

const NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9";

export function sitemap({ snapshot, baseUrl }: Service): AnyElysia {
  return new Elysia({ strictPath: true })
    .get("/sitemap.xml", ({ request }) => {
      const base = baseUrl(request);
      const sitemaps = snapshot()
        .users.listPages()
        .map((page) => html`<sitemap><loc>${base}/sitemaps/${page}.xml</loc></sitemap>\n`);
      return xml(html`<sitemapindex xmlns="${NAMESPACE}">\n${sitemaps}</sitemapindex>`);
    })
    .get("/sitemaps/:file", ({ request, params }) => {
      const [, digits] = /^(0|[1-9]\d{0,8})\.xml$/.exec(params.file) ?? [];
      const page = Number(digits);
      const ids = digits === undefined ? [] : snapshot().users.listIds(page);
      if (ids.length === 0) return fail("route_not_found");
      const base = baseUrl(request);
      // Escaped once, because a page has thousands of drivers.
      const start = html`<url><loc>${base}/drivers/`.text;
      const urls = new Html(ids.map((id) => `${start}${id}</loc></url>\n`).join(""));
      return xml(html`<urlset xmlns="${NAMESPACE}">\n${urls}</urlset>`);
    });
}

function xml(root: Html): Content {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n${root.text}\n`;
  return new Content("application/xml; charset=utf-8", text, { cache: "public" });
}
