/** The routes of the pages for people. A page of results counts as one search. */
import { Elysia } from "elysia";
import { type Language, languageCodes } from "../../domain/languages.ts";
import { hash } from "../../files/bytes.ts";
import type { Decision } from "../../limit/limiter.ts";
import { normalizeQuery, SEARCHABLE } from "../../search/fold.ts";
import type { Snapshot } from "../../snapshot/read/reload.ts";
import type { Site } from "../../web/brand.ts";
import { renderDocument } from "../../web/document.ts";
import {
  assetPath,
  companyPath,
  DOCS_PATH,
  driverPath,
  type ProblemView,
  type View,
} from "../../web/page.ts";
import type { RouteOptions } from "../app-options.ts";
import { Content, preferencesIn } from "../content.ts";
import { API_PREFIX, errors, parseId } from "../endpoints.ts";
import { fail } from "../errors.ts";
import { toSeconds } from "../rate-limit.ts";
import { isUnder, parametersOf, pathOf, withoutBase } from "../url.ts";
import { createAssets } from "./page-files.ts";
import { readCompany, readDriver, readResults, readStart } from "./read-views.ts";

/** The page's script and style come from this server, but a dataset's avatars may be anywhere. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: http:; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** A kiosk's page has one inline script. Both of its scripts fetch pages. */
function pagePolicy({ kiosk, assets }: Site): string {
  if (!kiosk) return PAGE_POLICY;
  const rescue = hash("SHA256", assets.rescue, "base64");
  return `${PAGE_POLICY}; connect-src 'self'; script-src-elem 'self' 'sha256-${rescue}'`;
}

/** Returns the routes, and the response to a request for an unknown path. */
export function createPages(options: RouteOptions) {
  const { site, basePath, counters, reloadable } = options;
  if (!site) {
    const headers = { location: basePath + DOCS_PATH };
    const toDocs = new Content("", null, { status: 302, headers });
    const routes = new Elysia().get("/", () => toDocs);
    return { routes, notFound: () => fail("route_not_found") };
  }

  const { assets, show, showOrFail } = createRenderer(site, options);
  const routes = new Elysia()
    .get("/", async ({ request }) => {
      const query = queryOf(request);
      const isSearch = SEARCHABLE.test(query);
      const refused = isSearch ? await counters?.countSearch(request) : undefined;

      const snapshot = reloadable.current();
      if (query === "") return show(request, snapshot, readStart(snapshot, site, afterOf(request)));
      if (!isSearch) {
        return show(request, snapshot, { kind: "problem", problem: "invalid_query", query });
      }
      if (refused) return showOrFail(request, snapshot, { ...limited(refused), query });
      return reloadable.readWithPauses(function* (searched) {
        return show(request, searched, yield* readResults(searched, query));
      });
    })
    .get(companyPath(":companyId"), ({ request, params }) => {
      const refused = counters?.countCompanyPage(request);
      const snapshot = reloadable.current();
      if (refused) return showOrFail(request, snapshot, limited(refused));

      const id = parseId(params.companyId);
      return showOrFail(request, snapshot, readCompany(snapshot, id, afterOf(request)));
    })
    .get(driverPath(":driverId"), ({ request, params }) => {
      const id = parseId(params.driverId);
      if (id === undefined && !prefersPage(request)) return fail("invalid_user_id");

      const showsAll = parametersOf(request.url).achievements === "all";
      const allAfter = showsAll ? afterOf(request) : undefined;
      const snapshot = reloadable.current();
      return showOrFail(request, snapshot, readDriver(snapshot, id, allAfter));
    })
    .get(assetPath(":file"), ({ params }) => assets.find(params.file));

  function notFound(request: Request) {
    // In another app, the path still has the prefix.
    const path = withoutBase(pathOf(request.url), basePath);
    if (isUnder(path, API_PREFIX)) return fail("route_not_found");
    const view = { kind: "problem", problem: "route_not_found" } as const;
    return showOrFail(request, reloadable.current(), view);
  }
  return { routes, notFound };
}

function createRenderer(site: Site, { basePath, baseUrl }: RouteOptions) {
  const { kiosk } = site;
  const assets = createAssets(site);
  const policy = pagePolicy(site);
  // A kiosk's visitor chooses a language, which a cookie holds.
  const vary = `accept, accept-encoding, accept-language${kiosk ? ", cookie" : ""}`;

  /** The view was read from this snapshot. */
  function show(request: Request, snapshot: Snapshot, view: View): Content {
    const language = site.language ?? languageFor(request.headers, kiosk);
    const html = renderDocument({
      view,
      language,
      locale: localeFor(request.headers, language),
      brand: site,
      meta: snapshot.meta,
      basePath,
      baseUrl: baseUrl(request),
      lastQuery: kiosk ? queryOf(request) : "",
      rescue: site.assets.rescue,
      ...assets.paths,
    });

    const headers = {
      vary,
      "content-security-policy": policy,
      "content-language": language,
      "referrer-policy": "same-origin",
    };

    const status = statusOf(view);
    return new Content("text/html; charset=utf-8", html, {
      status,
      isIndexable: site.allowIndexing && status === 200,
      cache: view.kind === "results" || view.kind === "company" ? "search" : "private",
      headers,
      retryAfterSeconds: view.kind === "problem" ? view.waitSeconds : undefined,
    });
  }

  /** On an error, a client that does not prefer HTML gets the API's JSON. */
  function showOrFail(request: Request, snapshot: Snapshot, view: View) {
    if (view.kind !== "problem" || prefersPage(request)) return show(request, snapshot, view);
    return fail(view.problem, view.waitSeconds ? { retry_after: view.waitSeconds } : {});
  }

  return { assets, show, showOrFail };
}

function statusOf(view: View): number {
  // A page that asks for more letters is not an error.
  if (view.kind !== "problem" || view.problem === "invalid_query") return 200;
  return errors[view.problem].status;
}

const limited = ({ resetMs }: Decision): ProblemView => {
  return { kind: "problem", problem: "rate_limited", waitSeconds: toSeconds(resetMs) };
};

function queryOf(request: Request): string {
  return normalizeQuery(parametersOf(request.url).q ?? "");
}

/** The id, or the number of achievements, after which a page of a list begins. */
function afterOf(request: Request): number {
  return parseId(parametersOf(request.url).after ?? "") ?? 0;
}

/** A kiosk's visitor chooses a language, which the script keeps in a cookie until it is idle. */
function languageFor(headers: Headers, isKiosk: boolean): Language {
  const cookie = isKiosk ? headers.get("cookie") : null;
  const [, chosen] = /(?:^|;)\s*language=(\w+)/.exec(cookie ?? "") ?? [];
  const preferred = preferencesIn(headers, "accept-language").languages(languageCodes);
  const find = (wanted?: string) => languageCodes.find((code) => code === wanted);
  return find(chosen) ?? find(preferred[0]) ?? "en";
}

/** The language with the region that the client prefers for it, such as `en-GB`, if it names one. */
function localeFor(headers: Headers, language: Language): string {
  const tags = preferencesIn(headers, "accept-language").languages();
  const regional = new RegExp(`^${language}-(?:[a-z]{2}|\\d{3})$`, "i");
  return tags.find((tag) => regional.test(tag)) ?? language;
}

/** A client that accepts any type, as most programs do, gets JSON. */
function prefersPage({ headers }: Request): boolean {
  const preferences = preferencesIn(headers, "accept");
  return preferences.mediaType(["application/json", "text/html"]) === "text/html";
}
