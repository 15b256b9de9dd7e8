/**
 * The whole HTTP side as one function from request to response, and the only place that has an
 * order: what holds for every answer (method, limit, headers) is around the routes, which know only
 * their own subject.
 */
import { Elysia } from "elysia";
import { apiVersion } from "../domain/version.ts";
import { fail } from "./answer.ts";
import { type Audience, cacheControl, etagOf, isNoneMatch } from "./caching.ts";
import { chooseCoding, compress, MIN_COMPRESSED_BYTES } from "./compression.ts";
import type { Context } from "./context.ts";
import { type DocsScript, docsRoutes, PAGE_POLICY } from "./docs.ts";
import { healthRoutes } from "./health.ts";
import { refuse, setRateLimitHeaders } from "./rate-limit.ts";
import { pathOf } from "./request.ts";
import { searchRoutes } from "./search.ts";
import { userRoutes } from "./users.ts";

export interface AppOptions extends Omit<Context, "originOf"> {
  /** How long a cache may keep an answer without asking again; 0 for not at all. */
  cacheMaxAgeSeconds: number;
  docsScript: DocsScript;
  /** Told of every bug that became a 500. */
  onBug(error: unknown, requestId: string): void;
}

/** Answers a request that came from the address `peer`. Never throws. */
export type Fetch = (request: Request, peer?: string) => Promise<Response>;

const ALLOWED = "GET, HEAD, OPTIONS";

/** What a browser asks before a request from another site; the answer holds for a day. */
const preflightHeaders = {
  "access-control-allow-methods": ALLOWED,
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

const searchPaths = new Set(
  ["", "/api"].flatMap((prefix) => [`${prefix}/search/companies`, `${prefix}/search/users`]),
);

/** Whose cache may keep what is at a path of the API; of the rest, nothing is said. */
function audienceOf(path: string): Audience | undefined {
  if (searchPaths.has(path)) return "private";
  return /^(?:\/api)?\/users\//.test(path) ? "public" : undefined;
}

export function createFetch(options: AppOptions): Fetch {
  const { searchLimit, onBug } = options;
  const origins = new WeakMap<Request, string>();
  const originOf = (request: Request) => origins.get(request) ?? new URL(request.url).origin;
  const router = createRouter({ ...options, originOf });

  async function answer(
    request: Request,
    peer: string | undefined,
    answerBug: (error: unknown) => Response,
  ): Promise<Response> {
    const { method, url, headers } = request;
    if (method !== "GET" && method !== "HEAD") return answerOtherMethod(request);
    if (!searchLimit || !searchPaths.has(pathOf(url))) return represent(request);
    const { limiter, clientOf } = searchLimit;
    const decision = await limiter.take(clientOf(peer, headers.get("x-forwarded-for")));
    const response = decision.allowed
      ? await represent(request).catch(answerBug)
      : refuse(decision);
    setRateLimitHeaders(response.headers, searchLimit, decision);
    return response;
  }

  /**
   * Has the router answer. It takes GET alone, and looks for the path behind the eleventh character
   * of the URL: too far for hosts such as `nas`, and for HTTP/1.0, whose URL is a mere path.
   */
  async function route(request: Request): Promise<Response> {
    const { method, url, headers } = request;
    const path = pathOf(url);
    if (method === "GET" && url.startsWith(path, url.indexOf("/", 11)))
      return router.fetch(request);
    const query = url.indexOf("?");
    const plain = new Request(`http://localhost${path}${query < 0 ? "" : url.slice(query)}`, {
      headers,
    });
    if (URL.canParse(url)) origins.set(plain, new URL(url).origin);
    return router.fetch(plain);
  }

  /** A 200 of the API with its validator, in a coding that the client takes; or the 304 instead. */
  async function represent(request: Request): Promise<Response> {
    const response = await route(request);
    const audience = audienceOf(pathOf(request.url));
    if (response.status !== 200 || !audience) return response;
    const text = await response.text();
    const { headers } = response;
    const coding =
      Buffer.byteLength(text) > MIN_COMPRESSED_BYTES
        ? chooseCoding(request.headers.get("accept-encoding"))
        : undefined;
    // Another coding is another representation, and a strong validator tells them apart.
    const etag = etagOf(text, coding);
    headers.set("etag", etag);
    headers.set("cache-control", cacheControl(audience, options.cacheMaxAgeSeconds));
    headers.set("vary", "accept-encoding");
    if (isNoneMatch(request.headers.get("if-none-match"), etag)) {
      headers.delete("content-type");
      return new Response(null, { status: 304, headers });
    }
    if (!coding) return new Response(text, { headers });
    headers.set("content-encoding", coding);
    return new Response(compress(text, coding), { headers });
  }

  /** A known path says what it takes instead; an unknown one is unknown by any method. */
  async function answerOtherMethod({ url, method }: Request): Promise<Response> {
    const path = pathOf(url);
    if (!router.knows(path)) return fail("route_not_found");
    const response =
      method === "OPTIONS"
        ? new Response(null, { status: 204, headers: preflightHeaders })
        : fail("method_not_allowed");
    response.headers.set("allow", ALLOWED);
    return response;
  }

  return async (request, peer) => {
    const requestId = crypto.randomUUID();
    const answerBug = (error: unknown) => {
      onBug(error, requestId);
      return fail("internal_error");
    };
    const response = await answer(request, peer, answerBug).catch(answerBug);
    setCommonHeaders(response, requestId);
    return request.method === "HEAD" ? withoutBody(response) : response;
  };
}

/** The same headers, with the length the body would have. */
async function withoutBody(response: Response): Promise<Response> {
  const { status, headers } = response;
  if (response.body) {
    const { byteLength } = await response.arrayBuffer();
    headers.set("content-length", String(byteLength));
  }
  return new Response(null, { status, headers });
}

function createRouter(options: AppOptions & Context) {
  const api = () => new Elysia().use(userRoutes(options)).use(searchRoutes(options));
  const hidden = { detail: { hide: true } };
  const app = new Elysia({ strictPath: true })
    // What a handler throws is for the caller of `fetch` to log; here it only must not be answered.
    .onError(({ code, error }) => {
      if (code === "NOT_FOUND") return fail("route_not_found");
      throw error;
    })
    .use(api())
    .group("/api", hidden, (group) => group.use(api()))
    .use(healthRoutes(options))
    .use(docsRoutes(options.docsScript))
    .get("/", () => new Response(null, { status: 302, headers: { location: "/docs" } }), hidden);
  const { static: fixed, http: patterns } = app.router;
  return {
    fetch: app.fetch,
    knows: (path: string) => Object.hasOwn(fixed, path) || patterns.find("GET", path) !== null,
  };
}

function setCommonHeaders({ status, headers }: Response, requestId: string): void {
  if (status >= 400) headers.set("cache-control", "no-store");
  headers.set("x-request-id", requestId);
  headers.set("x-api-version", apiVersion);
  headers.set("x-content-type-options", "nosniff");
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-expose-headers", EXPOSED);
  if (headers.get("content-type")?.startsWith("text/html")) {
    headers.set("content-security-policy", PAGE_POLICY);
  }
}

const EXPOSED =
  "ETag, RateLimit, RateLimit-Policy, Retry-After, X-API-Version, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";
