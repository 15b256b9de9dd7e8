/** The routes of the pages for people. A page of results counts as one search. */
import crypto from "node:crypto";
import { Elysia } from "elysia";
import { errors } from "../domain/api.ts";
import type { Decision } from "../limit/limiter.ts";
import type { Snapshot } from "../snapshot/read/open.ts";
import type { PageAssets } from "../web/assets.ts";
import { type Brand, DEFAULT_ACCENT, type Logo, styleOf } from "../web/brand.ts";
import { renderDocument } from "../web/document.ts";
import { languageFor, translationIn } from "../web/languages.ts";
import { drawPreview } from "../web/preview.ts";
import { RESCUE } from "../web/rescue.ts";
import { readCompany, readDriver, readResults, readStart, type View } from "../web/view.ts";
import { type CountSearch, failLimited, toSeconds } from "./rate-limit.ts";
import { normalizeText, parseUserId, pathOf, preferencesIn, SEARCHABLE } from "./request.ts";
import { type Body, Content, fail } from "./result.ts";
import type { Service } from "./service.ts";

/** The page's script and style come from this server, but a dataset's avatars may be anywhere. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: http:; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** A kiosk's script fetches the pages that it shows. */
const RESCUE_HASH = crypto.hash("sha256", RESCUE, "base64");
const KIOSK_POLICY = `${PAGE_POLICY}; connect-src 'self'; script-src-elem 'self' 'sha256-${RESCUE_HASH}'`;

/** An operator's logo may also contain styles and embedded images. */
const LOGO_POLICY =
  "default-src 'none'; frame-ancestors 'none'; style-src 'unsafe-inline'; img-src data:";

/** Loading a page that counts as a search again, as with Back, would count as another one. */
const COUNTED = { "cache-control": "private, max-age=60" };

export interface Pages extends Brand {
  accent?: string | undefined;
  logo: Logo | undefined;
  /** The drivers on the start page. Defaults to those with the most achievement points. */
  featured?: readonly number[] | undefined;
  assets: PageAssets;
}

export interface PagesService extends Service {
  /** If undefined, / redirects to /docs. */
  page: Pages | undefined;
  /** Undefined if searches are not limited. */
  countSearch: CountSearch | undefined;
}

/** Returns the routes, and the page for an unknown path. */
export function createPages(service: PagesService) {
  const { page, countSearch, snapshot, basePath, baseUrl } = service;
  const plugin = new Elysia({ strictPath: true }).get("/robots.txt", ({ request }) => {
    // These robots fetch a linked page to show a preview of it, and obey this file.
    const previews = "User-agent: Twitterbot\nUser-agent: facebookexternalhit";
    const rules = page?.allowIndexing
      ? `User-agent: *\nAllow: /\nSitemap: ${baseUrl(request)}/sitemap.xml`
      : `User-agent: *\nDisallow: /\n\n${previews}\nAllow: /`;
    return new Content("text/plain; charset=utf-8", `${rules}\n`, { cache: "public" });
  });
  if (!page) {
    const location = `${basePath}/docs`;
    const toDocs = new Content("", null, { status: 302, headers: { location } });
    return { routes: plugin.get("/", () => toDocs), notFoundPage: () => undefined };
  }
  const { findAsset, ...paths } = nameAssets(page);

  const show = (request: Request, { meta }: Snapshot, view: View, headers = {}): Content => {
    const cookie = page.kiosk ? request.headers.get("cookie") : null;
    const language =
      page.language ?? languageFor(preferencesIn(request.headers, "accept-language"), cookie);
    const problem = view.kind === "problem" ? view.problem : undefined;
    const shown = { view, language, brand: page, meta };
    const html = renderDocument({ ...shown, ...paths, basePath, baseUrl: baseUrl(request) });
    return new Content("text/html; charset=utf-8", html, {
      // A page that asks for more letters is not an error.
      status: problem === undefined || problem === "invalid_query" ? 200 : errors[problem].status,
      cache: "private",
      headers: {
        vary: `accept, accept-encoding, accept-language${page.kiosk ? ", cookie" : ""}`,
        "content-security-policy": page.kiosk ? KIOSK_POLICY : PAGE_POLICY,
        "content-language": language,
        "referrer-policy": "same-origin",
        ...headers,
      },
    });
  };

  const showLimited = (request: Request, { resetMs }: Decision, query = ""): Content => {
    const waitSeconds = toSeconds(resetMs);
    const view = { kind: "problem", problem: "rate_limited", query, waitSeconds } as const;
    return show(request, snapshot(), view, { "retry-after": String(waitSeconds) });
  };

  let sign: { count: string; png: Body } | undefined;
  const routes = plugin
    .get("/", async ({ request, server }) => {
      const typed = parametersOf(request)?.getAll("q").at(-1)?.trim() ?? "";
      const text = normalizeText(typed);
      // The page repeats as much as shows that a query is too long to find anything.
      const [query = ""] = /^.{0,401}/su.exec(text) ?? [];
      const isSearch = SEARCHABLE.test(text);
      const decision = isSearch ? await countSearch?.(request, server) : undefined;
      const data = snapshot();
      if (query === "")
        return show(request, data, readStart(data, baseUrl(request), page.featured));
      const problem = { kind: "problem" as const, query };
      if (!isSearch) return show(request, data, { ...problem, problem: "invalid_query" });
      if (decision?.allowed === false) return showLimited(request, decision, query);
      const found = readResults(data, text, baseUrl(request));
      const view = { ...found, query, searchesLeft: decision?.remaining };
      return show(request, data, view, COUNTED);
    })
    // On an error, a client that does not prefer HTML gets the API's JSON.
    .get("/companies/:companyId", async ({ request, params, server }) => {
      const decision = await countSearch?.(request, server);
      const isJson = !prefersPage(request);
      if (decision?.allowed === false)
        return isJson ? failLimited(decision) : showLimited(request, decision);
      const id = parseUserId(params.companyId) ?? 0;
      const after = parseUserId(parametersOf(request)?.get("after") ?? "") ?? 0;
      const data = snapshot();
      const view = readCompany(data, id, after, baseUrl(request));
      if (view.kind === "company") return show(request, data, view, COUNTED);
      return isJson ? fail(view.problem) : show(request, data, view);
    })
    .get("/drivers/:driverId", ({ request, params }) => {
      const id = parseUserId(params.driverId);
      const isJson = !prefersPage(request);
      if (isJson && id === undefined) return fail("invalid_user_id");
      const showsAll = parametersOf(request)?.get("achievements") === "all";
      const data = snapshot();
      const view = readDriver(data, id, showsAll, baseUrl(request));
      return isJson && view.kind === "problem" ? fail(view.problem) : show(request, data, view);
    })
    .get("/sign.png", () => {
      const { title, accent = DEFAULT_ACCENT, language = "en", logo } = page;
      const { texts, formatCount } = translationIn(language);
      const count = formatCount(snapshot().meta.counts.public_users, texts.driverCount);
      // The last picture is kept, because drawing takes as long as hundreds of requests.
      if (sign?.count !== count) sign = { count, png: drawPreview(title, count, accent, !logo) };
      return new Content("image/png", sign.png, { cache: "public" });
    })
    .get("/assets/:file", ({ params }) => findAsset(params.file) ?? fail("route_not_found"));

  return {
    routes,
    /** Returns undefined if the client should get JSON. */
    notFoundPage(request: Request): Content | undefined {
      // In another app, the path still has the prefix.
      const isApi = /^\/api(\/|$)/.test(pathOf(request.url).replace(basePath, ""));
      if (isApi || !prefersPage(request)) return undefined;
      return show(request, snapshot(), { kind: "problem", problem: "route_not_found" });
    },
  };
}

/** The part of a file's name that differs between versions of the script and the style sheet. */
const VERSIONED = /^page-[0-9a-f]{12}(-[0-9a-f]{6})?(?=\.(css|js)$)/;

/** Returns the paths of the assets, and the content of each by its file name. */
function nameAssets({ assets: { script, style }, accent, logo }: Pages) {
  const files = new Map<string, Content>();
  const add = (file: string, type: string, body: Body, headers = {}) => {
    // For a page of another version. No file name in a request contains a slash.
    files.set(file.replace(VERSIONED, "/"), new Content(type, body, { isShared: true }));
    files.set(file, new Content(type, body, { cache: "immutable", isShared: true, headers }));
    return `/assets/${file}`;
  };
  const styleFile = style.file.replace(".css", accent ? `-${accent.slice(1)}.css` : ".css");
  const styleText = style.text + (accent ? styleOf(accent) : "");
  return {
    findAsset: (file: string) => files.get(file) ?? files.get(file.replace(VERSIONED, "/")),
    scriptPath: add(script.file, "text/javascript; charset=utf-8", script.text),
    stylePath: add(styleFile, "text/css; charset=utf-8", styleText),
    // An SVG opened directly is a document and could run scripts, so the policy forbids scripts.
    logoPath:
      logo && add(logo.file, logo.type, logo.bytes, { "content-security-policy": LOGO_POLICY }),
  };
}

/** A client that accepts any type, as most programs do, gets JSON. */
function prefersPage(request: Request): boolean {
  const preferences = preferencesIn(request.headers, "accept");
  return preferences.mediaType(["application/json", "text/html"]) === "text/html";
}

const parametersOf = ({ url }: Request) => URL.parse(url)?.searchParams;
