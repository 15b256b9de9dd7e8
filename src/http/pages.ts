/**
 * The routes of the page for people. It reads the public API as any client does, and what it asks for
 * counts for whoever opened the page.
 */
import Negotiator from "negotiator";
import { renderDocument } from "../web/document.ts";
import { DEFAULT_LANGUAGE, isLanguage, type Language, languages } from "../web/texts.ts";
import { type Address, loadView, type Problem } from "../web/view.ts";
import type { Context } from "./context.ts";
import { parseUserId } from "./request.ts";
import { content, fail, type Result } from "./result.ts";
import { PAGE_POLICY } from "./security-headers.ts";

export interface PageOptions {
  /** For a screen that nobody watches over: nothing leads away, and it returns to the start. */
  isKiosk?: boolean;
  /** Whether search engines may list the pages. */
  isIndexed?: boolean;
  /** The language for everyone; without it, each reader's own. */
  language?: Language | undefined;
  /** The ids of the drivers whom the start shows. */
  featuredIds?: readonly number[];
}

/** The script and the style of the page, by file name; a name changes with its content. */
export interface PageAssets {
  script: PageAsset;
  style: PageAsset;
}

export interface PageAsset {
  file: string;
  text: string;
}

/** No name is as long, in any normalization: what is behind it changes no result. */
const MAX_QUERY_LENGTH = 1600;

/** Of a header that says what a reader likes, no more is read: browsers send some 150 characters. */
const MAX_HEADER_LENGTH = 1000;

/** The start, or the results of a search. */
export function getStartPage(context: Context): Promise<Result> {
  const query = URL.parse(context.request.url)?.searchParams.get("q") ?? "";
  // Cut in the middle of a character, it would be no text to ask for.
  const cut = query.slice(0, MAX_QUERY_LENGTH).toWellFormed();
  return renderPage(context, { path: "/", query: cut });
}

/** A driver. Whoever does not ask for a page gets an error as the API has it. */
export async function getDriverPage(context: Context): Promise<Result> {
  const id = parseUserId(context.params.driverId ?? "");
  // 0 is nobody's.
  const address = { path: `/drivers/${id ?? 0}`, query: "" };
  if (prefersPage(context.request)) return renderPage(context, address);
  if (id === undefined) return fail("invalid_user_id");
  const profile = await context.ask(`/users/public/${id}`);
  if (profile.ok) return renderPage(context, address);
  const type = profile.headers.get("content-type") ?? "";
  return { status: profile.status, type, body: await profile.text() };
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

/** A search is a page whatever it finds; a driver who cannot be shown is an error. */
const statusOf: Partial<Record<Problem, number>> = { private: 403, unknown: 404, broken: 500 };

async function renderPage({ service, request, ask }: Context, address: Address): Promise<Result> {
  const language = service.page?.language ?? languageOf(request);
  const [view, { script, style }] = await Promise.all([
    loadView(address, service.page?.featuredIds ?? [], ask),
    service.pageAssets(),
  ]);
  const body = renderDocument({
    ...service.page,
    view,
    language,
    scriptPath: `/assets/${script.file}`,
    stylePath: `/assets/${style.file}`,
  });
  const headers = {
    "content-security-policy": PAGE_POLICY,
    "content-language": language,
    "referrer-policy": "same-origin",
  };
  const status = (view.kind === "problem" && statusOf[view.problem]) || 200;
  if (service.snapshot().isSpoiled())
    return { ...content("text/html", body, headers), status: 503 };
  return { ...content("text/html", body, headers), status };
}

export async function getPageAsset({ params, service }: Context): Promise<Result> {
  const { script, style } = await service.pageAssets();
  if (params.file === script.file) return content("text/javascript", script.text);
  return params.file === style.file ? content("text/css", style.text) : fail("route_not_found");
}

/** Profiles of people are not for search engines, unless the operator says so. */
export function getRobots({ service }: Context): Result {
  const rule = service.page?.isIndexed ? "Allow: /" : "Disallow: /";
  return content("text/plain", `User-agent: *\n${rule}\n`);
}
