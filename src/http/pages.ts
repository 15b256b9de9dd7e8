/**
 * The routes of the web page. The page uses the public API like any client, and its searches count
 * against the limit of the client that opened the page.
 */
import { type AnyElysia, Elysia } from "elysia";
import Negotiator from "negotiator";
import pLimit from "p-limit";
import { type Logo, styleOf } from "../web/brand.ts";
import { renderDocument } from "../web/document.ts";
import { DEFAULT_LANGUAGE, isLanguage, type Language, languages } from "../web/texts.ts";
import { loadView, type PageUrl, type Problem } from "../web/view.ts";
import type { Body } from "./compression.ts";
import { parseUserId } from "./request.ts";
import { Content, fail, JSON_TYPE } from "./result.ts";
import { LOGO_POLICY, PAGE_POLICY } from "./security-headers.ts";
import type { Service } from "./service.ts";

export interface PageOptions {
  /**
   * Adapts the page to an unattended screen: no link leaves the site, the page returns to the start
   * when idle, and searches from the server's own machine are not limited.
   */
  kiosk?: boolean | undefined;
  /** The idle time after which a kiosk returns to the start, such as `90s`. Defaults to `2m`. */
  kioskIdle?: string | undefined;
  /** Lets search engines index the page and its drivers. */
  allowIndexing?: boolean | undefined;
  /** The language of the page. Defaults to the language that the reader's browser asks for. */
  language?: Language | undefined;
  /** The community's name. Defaults to Roadbook. */
  title?: string | undefined;
  /** The accent colour, such as `#0a7d4f`. Text on this colour is black or white, for contrast. */
  accent?: string | undefined;
  /** The path or bytes of an SVG or PNG file of at most 256 KB, shown beside the name. */
  logo?: string | Uint8Array | undefined;
  /**
   * The ids of the drivers on the start page. Defaults to the drivers with the most achievement
   * points.
   */
  featured?: readonly number[] | undefined;
}

/** The page's style sheet, and its script in each language. File names change with the content. */
export interface PageAssets {
  scripts: Record<Language, PageAsset>;
  style: PageAsset;
}

export interface PageAsset {
  file: string;
  text: string;
}

/** Robots that fetch a linked page to show a preview, and that obey robots.txt. */
const PREVIEW_ROBOTS = "User-agent: Twitterbot\nUser-agent: facebookexternalhit";

/** The validated options. */
export interface Pages extends Omit<PageOptions, "logo" | "kioskIdle"> {
  kioskIdleMs: number;
  title: string;
  logo: Logo | undefined;
}

export interface PagesService extends Pick<Service, "snapshot" | "basePath" | "baseUrl"> {
  /** If undefined, / redirects to /docs. */
  page: Pages | undefined;
  pageAssets(): Promise<PageAssets>;
  /** Requests an API path on behalf of a client. Searches count against that client's limit. */
  subrequest(request: Request, path: string): Promise<Response>;
}

/** Other pages wait their turn. Without this limit, 800 large pages take 150 MB more memory. */
const MAX_CONCURRENT_RENDERS = 4;

export function pages(service: PagesService): AnyElysia {
  const { page, pageAssets, subrequest, snapshot, basePath, baseUrl } = service;
  const plugin = new Elysia({ strictPath: true }).get("/robots.txt", ({ request }) => {
    // Search engines may list profiles only if the operator allows indexing.
    const rules = page?.allowIndexing
      ? `User-agent: *\nAllow: /\nSitemap: ${baseUrl(request)}/sitemap.xml`
      : `User-agent: *\nDisallow: /\n\n${PREVIEW_ROBOTS}\nAllow: /`;
    const text = `${rules}\n`;
    return new Content("text/plain; charset=utf-8", text, { cache: "public" });
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
  const enqueue = pLimit(MAX_CONCURRENT_RENDERS);
  const render = (request: Request, url: PageUrl) => enqueue(() => renderNow(request, url));
  const renderNow = async (request: Request, url: PageUrl) => {
    const language = page.language ?? languageOf(request);
    const featured = page.featured ?? snapshot().meta.featured;
    const [view, { scriptPaths, stylePath, logoPath }] = await Promise.all([
      loadView(url, featured, (path) => subrequest(request, path)),
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
    if (view.kind !== "problem") return toPage(html, language, 200);
    return toPage(html, language, statusOf[view.problem] ?? 200, view.retryAfterSeconds);
  };
  return (
    plugin
      // Serves the start page or the results of a search.
      .get("/", ({ request }) => {
        const query = URL.parse(request.url)?.searchParams.get("q") ?? "";
        return render(request, { path: "/", query });
      })
      // On an error, a client that does not prefer HTML gets the API's JSON.
      .get("/drivers/:driverId", async ({ request, params }) => {
        const id = parseUserId(params.driverId);
        // No user has id 0, so an invalid id gets the page for an unknown driver.
        const url = { path: `/drivers/${id ?? 0}`, query: "" };
        if (prefersPage(request)) return render(request, url);
        if (id === undefined) return fail("invalid_user_id");
        const profile = await subrequest(request, `/users/public/${id}`);
        if (profile.ok) return render(request, url);
        return new Content(JSON_TYPE, await profile.text(), { status: profile.status });
      })
      .get("/assets/:file", async ({ params }) => {
        return (await readOnce()).files.get(params.file) ?? fail("route_not_found");
      })
  );
}

interface Assets {
  /** The path of the script for each language. */
  scriptPaths: Map<string, string>;
  stylePath: string;
  logoPath: string | undefined;
  /** The content of each asset, by file name. */
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
    // An SVG opened directly is a document and could run scripts, so the policy forbids scripts.
    logoPath:
      logo && add(logo.file, logo.type, logo.bytes, { "content-security-policy": LOGO_POLICY }),
  };
}

const statusOf: Partial<Record<Problem, number>> = {
  private: 403,
  unknown: 404,
  limited: 429,
  broken: 500,
};

function toPage(html: string, language: Language, status: number, retryAfterSeconds = 0): Content {
  return new Content("text/html; charset=utf-8", html, {
    status,
    cache: "private",
    headers: {
      vary: "accept, accept-encoding, accept-language",
      "content-security-policy": PAGE_POLICY,
      "content-language": language,
      "referrer-policy": "same-origin",
      ...(retryAfterSeconds > 0 && { "retry-after": String(retryAfterSeconds) }),
    },
  });
}

/** A client that accepts any type, as most programs do, gets JSON. */
function prefersPage(request: Request): boolean {
  const [best] = preferencesOf(request).mediaTypes(["application/json", "text/html"]);
  return best === "text/html";
}

function languageOf(request: Request): Language {
  const [best = ""] = preferencesOf(request).languages(Object.keys(languages));
  return isLanguage(best) ? best : DEFAULT_LANGUAGE;
}

/** A client that sends neither Accept nor Accept-Language accepts any type and language. */
function preferencesOf({ headers }: Request): Negotiator {
  const [accept, language] = [headers.get("accept"), headers.get("accept-language")];
  return new Negotiator({
    headers: { accept: accept ?? undefined, "accept-language": language ?? undefined },
  });
}
