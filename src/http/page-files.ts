/** Files that pages refer to: drawings, link previews, and what search engines read. */
import { Elysia, NotFoundError } from "elysia";
import { DEFAULT_ACCENT } from "../web/brand.ts";
import { drawAvatar, drawAvatarPng, drawBadge, drawFavicon } from "../web/drawings.ts";
import { Html, html } from "../web/html.ts";
import {
  COMPANIES_FOLDER,
  DRIVERS_FOLDER,
  FAVICON_PATH,
  iconPath,
  SITEMAP_PATH,
  sitemapPath,
} from "../web/page-paths.ts";
import type { Service } from "./app-options.ts";
import { type Body, Content } from "./content.ts";
import { fail } from "./errors.ts";
import { sign } from "./sign.ts";
import { parseId } from "./user-id.ts";

/** A drawing consists of shapes and text only. */
const DRAWING_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** These robots fetch a linked page to show a preview of it, and obey robots.txt. */
const PREVIEWS = "User-agent: Twitterbot\nUser-agent: facebookexternalhit";

const SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9";

export function pageFiles(service: Service) {
  const { pages, currentSnapshot, baseUrl } = service;
  const routes = new Elysia({ strictPath: true })
    // A private user has no avatar, because the initials would hint at the name.
    .get("/avatars/:file", async ({ params }) => {
      // An `avatar_url` may be /avatars/ann.png. Here, that is an unknown path, not an invalid id.
      const [, digits = "", kind] = /^(\d+)\.(svg|png)$/.exec(params.file) ?? [];
      if (digits === "") throw new NotFoundError();

      const id = parseId(digits);
      if (id === undefined) return fail("invalid_user_id");

      const name = currentSnapshot().users.findName(id);
      if (typeof name !== "string") return fail(name.missing);
      return kind === "svg" ? svg(drawAvatar(id, name)) : png(await drawAvatarPng(id, name));
    })
    .get(iconPath(":file"), ({ params }) => {
      const achievement = currentSnapshot().users.findAchievementByIcon(params.file);
      if (!achievement) throw new NotFoundError();
      return svg(drawBadge(achievement));
    })
    .get(FAVICON_PATH, () => svg(drawFavicon(pages?.accent ?? DEFAULT_ACCENT)))
    .get("/robots.txt", ({ request }) => {
      const rules = pages?.allowIndexing
        ? `User-agent: *\nAllow: /\nSitemap: ${baseUrl(request)}${SITEMAP_PATH}`
        : `User-agent: *\nDisallow: /\n\n${PREVIEWS}\nAllow: /`;
      return file("text/plain; charset=utf-8", `${rules}\n`);
    });

  if (pages) routes.use(sign(service, pages));
  return pages?.allowIndexing ? routes.use(sitemap(service)) : routes;
}

/** All public users, and the companies that have one: an index and its pages. */
function sitemap({ currentSnapshot, baseUrl }: Service) {
  return new Elysia({ strictPath: true })
    .get(SITEMAP_PATH, ({ request }) => {
      const base = baseUrl(request);
      const { users, companies } = currentSnapshot();

      const pagesOf = (count: number, prefix: string) =>
        Array.from({ length: count }, (_, page) => `${prefix}${page}.xml`);
      const files = [
        ...pagesOf(users.sitemap.countPages(), ""),
        ...pagesOf(companies.sitemap.countPages(), "companies-"),
      ];

      const sitemaps = files.map(
        (file) => html`<sitemap><loc>${base}${sitemapPath(file)}</loc></sitemap>\n`,
      );
      return xml(html`<sitemapindex xmlns="${SITEMAPS}">\n${sitemaps}</sitemapindex>`);
    })
    .get(sitemapPath(":file"), ({ request, params }) => {
      const [, kind, digits] = /^(companies-)?(0|[1-9]\d{0,8})\.xml$/.exec(params.file) ?? [];
      const listed = kind ? currentSnapshot().companies : currentSnapshot().users;
      const ids = digits === undefined ? [] : listed.sitemap.listIds(Number(digits));
      if (ids.length === 0) throw new NotFoundError();

      // Escaped once, because a page has thousands of addresses.
      const folder = kind ? COMPANIES_FOLDER : DRIVERS_FOLDER;
      const start = html`<url><loc>${baseUrl(request)}${folder}`.text;
      const urls = new Html(ids.map((id) => `${start}${id}</loc></url>\n`).join(""));
      return xml(html`<urlset xmlns="${SITEMAPS}">\n${urls}</urlset>`);
    });
}

const file = (type: string, body: Body, headers = {}) =>
  new Content(type, body, { cache: "public", headers });
const png = (bytes: Body) => file("image/png", bytes);
const svg = (text: string) =>
  file("image/svg+xml; charset=utf-8", text, { "content-security-policy": DRAWING_POLICY });
const xml = ({ text }: Html) =>
  file("application/xml; charset=utf-8", `<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`);
