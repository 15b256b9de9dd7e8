/** Files that pages refer to: drawings, and what search engines read. */
import { Elysia, NotFoundError } from "elysia";
import { DEFAULT_ACCENT } from "../../web/brand.ts";
import { drawAvatar, drawBadge, drawFavicon } from "../../web/drawings.ts";
import { FAVICON_PATH, iconPath, SITEMAP_PATH } from "../../web/page-paths.ts";
import type { Service } from "../app-options.ts";
import { Content } from "../content.ts";
import { fail } from "../errors.ts";
import { parseId } from "../url.ts";
import { sitemap } from "./sitemap.ts";

/** A drawing consists of shapes and text only. */
const DRAWING_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** These robots fetch a linked page to show a preview of it, and obey robots.txt. */
const PREVIEWS = "User-agent: Twitterbot\nUser-agent: facebookexternalhit";

export function pageFiles(service: Service) {
  const { pages, currentSnapshot, baseUrl } = service;
  const routes = new Elysia({ strictPath: true })
    // A private user has no avatar, because the initials would hint at the name.
    .get("/avatars/:file", ({ params }) => {
      // An `avatar_url` may be /avatars/ann.png. Here, that is an unknown path, not an invalid id.
      const [, digits] = /^(\d+)\.svg$/.exec(params.file) ?? [];
      if (digits === undefined) throw new NotFoundError();

      const id = parseId(digits);
      if (id === undefined) return fail("invalid_user_id");

      const name = currentSnapshot().users.findName(id);
      if (typeof name !== "string") return fail(name.missing);
      return svg(drawAvatar(id, name));
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

  return pages?.allowIndexing ? routes.use(sitemap(service)) : routes;
}

const file = (type: string, body: string, headers = {}) =>
  new Content(type, body, { cache: "public", headers });
const svg = (text: string) =>
  file("image/svg+xml; charset=utf-8", text, { "content-security-policy": DRAWING_POLICY });
