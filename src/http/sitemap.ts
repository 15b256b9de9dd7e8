/** The sitemap of all public drivers, and of companies that have one: an index and its pages. */
import { type AnyElysia, Elysia } from "elysia";
import { Html, html } from "../web/html.ts";
import { Content, fail } from "./result.ts";
import type { Service } from "./service.ts";

const NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9";

export function sitemap({ snapshot, baseUrl }: Service): AnyElysia {
  return new Elysia({ strictPath: true })
    .get("/sitemap.xml", ({ request }) => {
      const [base, { users, companies }] = [baseUrl(request), snapshot()];
      const files = [
        ...users.sitemap.listPages(),
        ...companies.sitemap.listPages().map((page) => `companies-${page}`),
      ];
      const sitemaps = files.map(
        (file) => html`<sitemap><loc>${base}/sitemaps/${file}.xml</loc></sitemap>\n`,
      );
      return xml(html`<sitemapindex xmlns="${NAMESPACE}">\n${sitemaps}</sitemapindex>`);
    })
    .get("/sitemaps/:file", ({ request, params }) => {
      const [, kind, digits] = /^(companies-)?(0|[1-9]\d{0,8})\.xml$/.exec(params.file) ?? [];
      const listed = kind ? snapshot().companies : snapshot().users;
      const ids = digits === undefined ? [] : listed.sitemap.listIds(Number(digits));
      if (ids.length === 0) return fail("route_not_found");
      const base = baseUrl(request);
      // Escaped once, because a page has thousands of addresses.
      const start = html`<url><loc>${base}/${kind ? "companies" : "drivers"}/`.text;
      const urls = new Html(ids.map((id) => `${start}${id}</loc></url>\n`).join(""));
      return xml(html`<urlset xmlns="${NAMESPACE}">\n${urls}</urlset>`);
    });
}

function xml(root: Html): Content {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n${root.text}\n`;
  return new Content("application/xml; charset=utf-8", text, { cache: "public" });
}
