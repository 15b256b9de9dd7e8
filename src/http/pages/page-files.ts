/** Files that pages refer to: scripts, styles, the logo, drawings, and what search engines read. */
import { Elysia, NotFoundError } from "elysia";
import { LRUCache } from "lru-cache";
import type { Snapshot } from "../../snapshot/read/reload.ts";
import { DEFAULT_ACCENT, type Site, styleOf } from "../../web/brand.ts";
import { drawAvatar, drawBadge, drawFavicon } from "../../web/drawings.ts";
import { html } from "../../web/html.ts";
import {
  assetPath,
  companyPath,
  driverPath,
  FAVICON_PATH,
  iconPath,
  SITEMAP_PATH,
  versioned,
} from "../../web/page.ts";
import type { RouteOptions } from "../app-options.ts";
import { Content } from "../content.ts";
import { parseId } from "../endpoints.ts";
import { fail } from "../errors.ts";

/** A drawing consists of shapes and text only. */
const DRAWING_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** These robots fetch a linked page to show a preview of it, and obey robots.txt. */
const PREVIEWS = "User-agent: Twitterbot\nUser-agent: facebookexternalhit";

/** The most addresses that a sitemap may have (https://www.sitemaps.org/protocol.html). */
const MAX_ADDRESSES = 50_000;
/** Listing all of them takes 20 ms. */
const IDS_PER_STEP = 1000;
/** Nobody needs more, but a client can send any `Host`. */
const MAX_ORIGINS = 4;

export function pageFiles(options: RouteOptions) {
  const { site, reloadable, baseUrl } = options;
  const routes = new Elysia()
    // A private user has no avatar, because the initials would hint at the name.
    .get("/avatars/:file", ({ params }) => {
      // An `avatar_url` may be /avatars/ann.png. Here, that is an unknown path, not an invalid id.
      const [, digits] = /^(\d+)\.svg$/.exec(params.file) ?? [];
      if (digits === undefined) throw new NotFoundError();

      const id = parseId(digits);
      if (id === undefined) return fail("invalid_user_id");

      const name = reloadable.current().users.findName(id);
      if (typeof name !== "string") return fail(name.missing);
      return svg(drawAvatar(id, name));
    })
    .get(iconPath(":file"), ({ params }) => {
      const achievement = reloadable.current().users.findAchievementByIcon(params.file);
      if (!achievement) throw new NotFoundError();
      return svg(drawBadge(achievement));
    })
    .get(FAVICON_PATH, () => svg(drawFavicon(site?.accent ?? DEFAULT_ACCENT)))
    .get("/robots.txt", ({ request }) => {
      const rules = site?.allowIndexing
        ? `User-agent: *\nAllow: /\nSitemap: ${baseUrl(request)}${SITEMAP_PATH}`
        : `User-agent: *\nDisallow: /\n\n${PREVIEWS}\nAllow: /`;
      return file("text/plain; charset=utf-8", `${rules}\n`);
    });

  return site?.allowIndexing ? routes.use(sitemap(options)) : routes;
}

const file = (type: string, body: string, headers = {}) =>
  new Content(type, body, { cache: "public", headers });
const svg = (text: string) =>
  file("image/svg+xml; charset=utf-8", text, { "content-security-policy": DRAWING_POLICY });

function sitemap({ reloadable, baseUrl }: RouteOptions) {
  let last: Sitemaps | undefined;

  return new Elysia().get(SITEMAP_PATH, async ({ request }) => {
    return await reloadable.readWithPauses(function* (snapshot) {
      const sitemaps = last?.snapshot === snapshot ? last : createSitemaps(snapshot);
      last = sitemaps;
      // Requests that arrive meanwhile list the rest together.
      while (sitemaps.listMore()) yield;
      return sitemaps.find(baseUrl(request));
    });
  });
}

type Sitemaps = ReturnType<typeof createSitemaps>;

/** The sitemaps of a snapshot, which differ only in the origin of their addresses. */
function createSitemaps(snapshot: Snapshot) {
  const { companies, users } = snapshot;
  const paths: string[] = [];
  const lists = [
    { listIds: companies.listIds, pathOf: companyPath, after: 0 },
    { listIds: users.listIds, pathOf: driverPath, after: 0 },
  ];
  const contents = new LRUCache<string, Content>({
    max: MAX_ORIGINS,
    memoMethod: (origin) => makeSitemap(origin, paths),
  });

  return {
    snapshot,
    /** Lists some more paths, the lowest ids first. Returns false once all are listed. */
    listMore(): boolean {
      const [list] = lists;
      if (!list) return false;
      const ids = list.listIds(list.after, Math.min(IDS_PER_STEP, MAX_ADDRESSES - paths.length));
      paths.push(...ids.map(list.pathOf));
      list.after = ids.at(-1) ?? 0;
      if (ids.length === 0) lists.shift();
      return true;
    },
    find: (origin: string): Content => contents.memo(origin),
  };
}

/** The beginning of an address is escaped and joined once, because there are thousands. */
function makeSitemap(origin: string, paths: string[]): Content {
  const start = html`\n<url><loc>${origin}`.text;
  const end = "</loc></url>";
  const urls = paths.length > 0 ? start + paths.join(end + start) + end : "";
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls}
</urlset>
`;
  return new Content("application/xml; charset=utf-8", text, { cache: "public", isShared: true });
}

/** An SVG opened directly is a document and could run scripts, but a logo may have styles and images. */
const LOGO_POLICY =
  "default-src 'none'; frame-ancestors 'none'; style-src 'unsafe-inline'; img-src data:";

/** The name of the script or the style sheet of any version, and its ending. */
const VERSIONED = /^page-[0-9a-f]{12}\.(css|js)$/;

export function createAssets({ assets: { script, style }, accent, logo }: Site) {
  const files = new Map<string, Content>();
  /** The script and the style sheet by their endings. */
  const current = new Map<string, Content>();

  function addVersioned(ending: string, type: string, text: string): string {
    const file = versioned("page", text, ending);
    files.set(file, new Content(type, text, { cache: "immutable", isShared: true }));
    current.set(ending, new Content(type, text, { isShared: true }));
    return assetPath(file);
  }

  if (logo) {
    const headers = { "content-security-policy": LOGO_POLICY };
    const options = { cache: "immutable", isShared: true, headers } as const;
    files.set(logo.file, new Content(logo.type, logo.bytes, options));
  }
  const styleText = style + (accent ? styleOf(accent) : "");
  return {
    paths: {
      scriptPath: addVersioned("js", "text/javascript; charset=utf-8", script),
      stylePath: addVersioned("css", "text/css; charset=utf-8", styleText),
      logoPath: logo && assetPath(logo.file),
    },
    /** A page of another version gets the current script and style sheet. */
    find(file: string): Content {
      const found = files.get(file) ?? current.get(VERSIONED.exec(file)?.[1] ?? "");
      if (!found) throw new NotFoundError();
      return found;
    },
  };
}
