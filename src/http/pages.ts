/**
 * The routes of the page for people. It reads the public API as any client does, and what it asks for
 * counts for whoever opened the page.
 */
import { type AnyElysia, Elysia } from "elysia";
import Negotiator from "negotiator";
import pLimit from "p-limit";
import { type Logo, styleOf } from "../web/brand.ts";
import { renderDocument } from "../web/document.ts";
import { DEFAULT_LANGUAGE, isLanguage, type Language, languages } from "../web/texts.ts";
import { type Address, loadView, type Problem } from "../web/view.ts";
import type { Body } from "./compression.ts";
import { parseUserId } from "./request.ts";
import { Content, fail, JSON_TYPE } from "./result.ts";
import { LOGO_POLICY, PAGE_POLICY } from "./security-headers.ts";
import type { Service } from "./service.ts";

export interface PageOptions {
  /**
   * For an unattended screen: no link leads off the site, the page returns to the start, and searches from
   * the server's own machine are not limited.
   */
  kiosk?: boolean | undefined;
  /** How long after the last touch a kiosk returns to the start, such as `90s`. Default `2m`. */
  kioskIdle?: string | undefined;
  /** Lets search engines index the page and its drivers. */
  allowIndexing?: boolean | undefined;
  /** @deprecated The former name of `allowIndexing`. */
  index?: boolean | undefined;
  /** The language for everyone; without it, each reader's own. */
  language?: Language | undefined;
  /** The community's name, in the place of Roadbook. */
  title?: string | undefined;
  /** The one colour, such as `#0a7d4f`; text on it is black or white, whichever can be read. */
  accent?: string | undefined;
  /** The path or the bytes of an SVG or PNG of at most 256 KB, shown beside the name. */
  logo?: string | Uint8Array | undefined;
  /** The ids of the drivers on the start page. Default those with the most achievement points. */
  featured?: readonly number[] | undefined;
}

/** The script for each language and the style of the page; a file's name changes with its content. */
export interface PageAssets {
  scripts: Record<Language, PageAsset>;
  style: PageAsset;
}

export interface PageAsset {
  file: string;
  text: string;
}

/** They read the page that somebody has linked to, for its preview, and obey robots.txt. */
const PREVIEWERS = "User-agent: Twitterbot\nUser-agent: facebookexternalhit";

/** No name is as long, in any normalization: what is behind it changes no result. */
const MAX_QUERY_LENGTH = 1600;

/** Of a header that says what a reader likes, no more is read: browsers send some 150 characters. */
const MAX_HEADER_LENGTH = 1000;

/** The options as they are served. */
export interface Pages extends Omit<PageOptions, "logo" | "kioskIdle" | "index"> {
  kioskIdleMs: number;
  title: string;
  logo: Logo | undefined;
}

export interface PagesService extends Pick<Service, "snapshot" | "basePath" | "baseUrl"> {
  /** Without it, the start leads to the docs. */
  page: Pages | undefined;
  pageAssets(): Promise<PageAssets>;
  /** Asks the API for a path on behalf of the client: a search counts against its limit. */
  ask(request: Request, path: string): Promise<Response>;
}

/**
 * A page of a driver with a thousand achievements takes 10 MB while it is made. Others wait: with 800 at
 * once the server would need 150 MB more.
 */
const MAX_RENDERED_AT_ONCE = 4;

export function pages(service: PagesService): AnyElysia {
  const { page, pageAssets, ask, snapshot, basePath, baseUrl } = service;
  const plugin = new Elysia({ strictPath: true }).get("/robots.txt", ({ request }) => {
    // Profiles of people are not for search engines, unless the operator says so.
    const rules = page?.allowIndexing
      ? `User-agent: *\nAllow: /\nSitemap: ${baseUrl(request)}/sitemap.xml`
      : `User-agent: *\nDisallow: /\n\n${PREVIEWERS}\nAllow: /`;
    const text = `${rules}\n`;
    return new Content("text/plain; charset=utf-8", text, { cache: "hour" });
  });
  if (!page) {
    const toDocs = new Content("", null, {
      status: 302,
      headers: { location: `${basePath}/docs` },
    });
    return plugin.get("/", () => toDocs);
  }
  let assets: Promise<Assets> | undefined;
  const readOnce = () => {
    assets ??= readAssets(pageAssets, page);
    return assets;
  };
  const inTurn = pLimit(MAX_RENDERED_AT_ONCE);
  const render = (request: Request, address: Address) => inTurn(() => renderNow(request, address));
  const renderNow = async (request: Request, address: Address) => {
    const language = page.language ?? languageOf(request);
    const featured = page.featured ?? snapshot().meta.featured;
    const [view, { scriptPaths, stylePath, logoPath }] = await Promise.all([
      loadView(address, featured, (path) => ask(request, path)),
      readOnce(),
    ]);
    const html = renderDocument({
      ...page,
      featured,
      view,
      language,
      basePath,
      baseUrl: baseUrl(request),
      scriptPath: scriptPaths.get(language) ?? "",
      stylePath,
      logoPath,
    });
    const status = snapshot().isSpoiled() ? 503 : view.kind === "problem" && statusOf[view.problem];
    return toPage(html, language, status || 200);
  };
  return (
    plugin
      // The start, or the results of a search.
      .get("/", ({ request }) => {
        const query = URL.parse(request.url)?.searchParams.get("q") ?? "";
        // Cut in the middle of a character, it would be no text to ask for.
        const cut = query.slice(0, MAX_QUERY_LENGTH).toWellFormed();
        return render(request, { path: "/", query: cut });
      })
      // A client that does not ask for a page gets an error as the API has it.
      .get("/drivers/:driverId", async ({ request, params }) => {
        const id = parseUserId(params.driverId);
        // 0 is nobody's.
        const address = { path: `/drivers/${id ?? 0}`, query: "" };
        if (prefersPage(request)) return render(request, address);
        if (id === undefined) return fail("invalid_user_id");
        const profile = await ask(request, `/users/public/${id}`);
        if (profile.ok) return render(request, address);
        return new Content(JSON_TYPE, await profile.text(), { status: profile.status });
      })
      .get("/assets/:file", async ({ params }) => {
        return (await readOnce()).files.get(params.file) ?? fail("route_not_found");
      })
  );
}

interface Assets {
  /** By language. */
  scriptPaths: Map<string, string>;
  stylePath: string;
  logoPath: string | undefined;
  /** By file name. */
  files: Map<string, Content>;
}

async function readAssets(
  pageAssets: () => Promise<PageAssets>,
  { accent, logo }: Pages,
): Promise<Assets> {
  const { scripts, style } = await pageAssets();
  const files = new Map<string, Content>();
  const add = (file: string, type: string, body: Body, headers = {}) => {
    files.set(file, new Content(type, body, { cache: "immutable", isShared: true, headers }));
    return `/assets/${file}`;
  };
  const styleFile = accent ? style.file.replace(".css", `-${accent.slice(1)}.css`) : style.file;
  const styleText = accent ? style.text + styleOf(accent) : style.text;
  const scriptPaths = Object.entries(scripts).map(([language, { file, text }]) => {
    return [language, add(file, "text/javascript; charset=utf-8", text)] as const;
  });
  return {
    files,
    scriptPaths: new Map(scriptPaths),
    stylePath: add(styleFile, "text/css; charset=utf-8", styleText),
    // Opened by itself, an SVG is a document, which may have scripts.
    logoPath:
      logo && add(logo.file, logo.type, logo.bytes, { "content-security-policy": LOGO_POLICY }),
  };
}

/** A search is a page whatever it finds; a driver who cannot be shown is an error. */
const statusOf: Partial<Record<Problem, number>> = { private: 403, unknown: 404, broken: 500 };

function toPage(html: string, language: Language, status: number): Content {
  return new Content("text/html; charset=utf-8", html, {
    status,
    cache: "page",
    headers: {
      "content-security-policy": PAGE_POLICY,
      "content-language": language,
      "referrer-policy": "same-origin",
    },
  });
}

/** A client that takes anything, as most programs do, has not asked for a page. */
function prefersPage(request: Request): boolean {
  const [best] = preferencesOf(request).mediaTypes(["application/json", "text/html"]);
  return best === "text/html";
}

function languageOf(request: Request): Language {
  const [best = ""] = preferencesOf(request).languages(Object.keys(languages));
  return isLanguage(best) ? best : DEFAULT_LANGUAGE;
}

/** Who sends neither header takes anything. */
function preferencesOf({ headers }: Request): Negotiator {
  const start = (name: string) => headers.get(name)?.slice(0, MAX_HEADER_LENGTH);
  return new Negotiator({
    headers: { accept: start("accept"), "accept-language": start("accept-language") },
  });
}
