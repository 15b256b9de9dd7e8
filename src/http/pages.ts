/** The routes of the pages for people. A page of results counts as one search. */
import crypto from "node:crypto";
import { Elysia } from "elysia";
import type { Decision } from "../limit/limiter.ts";
import { normalizeQuery, SEARCHABLE } from "../search/normalize-query.ts";
import { styleOf } from "../web/brand.ts";
import { RESCUE, renderDocument } from "../web/document.ts";
import { languageFor } from "../web/languages.ts";
import { readCompany, readDriver, readResults, readStart, type View } from "../web/view.ts";
import type { Pages, Service } from "./context.ts";
import { errors } from "./error-codes.ts";
import { toSeconds } from "./rate-limit.ts";
import { parseUserId, pathOf, preferencesIn, withoutBase } from "./request.ts";
import { type Body, Content, fail } from "./result.ts";

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

/** Returns the routes, and the response to a request for an unknown path. */
export function createPages({ page, countSearch, snapshot, basePath, baseUrl }: Service) {
  if (!page) {
    const headers = { location: `${basePath}/docs` };
    const toDocs = new Content("", null, { status: 302, headers });
    const routes = new Elysia({ strictPath: true }).get("/", () => toDocs);
    return { routes, notFound: () => fail("route_not_found") };
  }
  const { findAsset, ...paths } = nameAssets(page);

  const show = (request: Request, view: View): Content => {
    const cookie = page.kiosk ? request.headers.get("cookie") : null;
    const language =
      page.language ?? languageFor(preferencesIn(request.headers, "accept-language"), cookie);
    const shown = { view, language, brand: page, meta: snapshot().meta };
    const html = renderDocument({ ...shown, ...paths, basePath, baseUrl: baseUrl(request) });
    const { problem, waitSeconds } = view.kind === "problem" ? view : {};
    // Loading a page that counts as a search again, as with Back, would count as another one.
    const isCounted = view.kind === "results" || view.kind === "company";
    return new Content("text/html; charset=utf-8", html, {
      // A page that asks for more letters is not an error.
      status: problem === undefined || problem === "invalid_query" ? 200 : errors[problem].status,
      cache: "private",
      headers: {
        vary: `accept, accept-encoding, accept-language${page.kiosk ? ", cookie" : ""}`,
        "content-security-policy": page.kiosk ? KIOSK_POLICY : PAGE_POLICY,
        "content-language": language,
        "referrer-policy": "same-origin",
        ...(isCounted && { "cache-control": "private, max-age=60" }),
        ...(waitSeconds !== undefined && { "retry-after": String(waitSeconds) }),
      },
    });
  };

  /** On an error, a client that does not prefer HTML gets the API's JSON. */
  const respond = (request: Request, view: View) => {
    if (view.kind !== "problem" || prefersPage(request)) return show(request, view);
    return fail(view.problem, view.waitSeconds ? { retry_after: view.waitSeconds } : {});
  };

  const routes = new Elysia({ strictPath: true })
    .get("/", async ({ request, server }) => {
      const query = normalizeQuery(parametersOf(request)?.getAll("q").at(-1) ?? "");
      const base = baseUrl(request);
      if (query === "") return show(request, readStart(snapshot(), base, page.featured));
      if (!SEARCHABLE.test(query))
        return show(request, { kind: "problem", problem: "invalid_query", query });
      const decision = await countSearch?.(request, server);
      if (decision?.allowed === false) return show(request, limited(decision, query));
      return show(request, { ...readResults(snapshot(), query, base), query });
    })
    .get("/companies/:companyId", async ({ request, params, server }) => {
      const decision = await countSearch?.(request, server);
      if (decision?.allowed === false) return respond(request, limited(decision));
      const id = parseUserId(params.companyId) ?? 0;
      const after = parseUserId(parametersOf(request)?.get("after") ?? "") ?? 0;
      return respond(request, readCompany(snapshot(), id, after, baseUrl(request)));
    })
    .get("/drivers/:driverId", ({ request, params }) => {
      const id = parseUserId(params.driverId);
      if (id === undefined && !prefersPage(request)) return fail("invalid_user_id");
      const showsAll = parametersOf(request)?.get("achievements") === "all";
      return respond(request, readDriver(snapshot(), id ?? 0, showsAll, baseUrl(request)));
    })
    .get("/assets/:file", ({ params }) => findAsset(params.file) ?? fail("route_not_found"));

  return {
    routes,
    notFound(request: Request) {
      // In another app, the path still has the prefix.
      const isApi = /^\/api(\/|$)/.test(withoutBase(pathOf(request.url), basePath));
      if (isApi) return fail("route_not_found");
      return respond(request, { kind: "problem", problem: "route_not_found" });
    },
  };
}

const limited = ({ resetMs }: Decision, query = ""): View => {
  return { kind: "problem", problem: "rate_limited", query, waitSeconds: toSeconds(resetMs) };
};

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
