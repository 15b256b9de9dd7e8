/**
 * The whole HTTP side as one function from request to response, and the only place that has an
 * order: what holds for every answer (method, limit, headers) is around the routes, which know only
 * their own subject.
 */
import { Elysia } from "elysia";
import { apiVersion } from "../domain/version.ts";
import { fail } from "./answer.ts";
import type { Context } from "./context.ts";
import { type DocsScript, docsRoutes, PAGE_POLICY } from "./docs.ts";
import { healthRoutes } from "./health.ts";
import { refuse, setRateLimitHeaders } from "./rate-limit.ts";
import { pathOf } from "./request.ts";
import { searchRoutes } from "./search.ts";
import { userRoutes } from "./users.ts";

export interface AppOptions extends Context {
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

export function createFetch(options: AppOptions): Fetch {
  const { searchLimit, onBug } = options;
  const router = createRouter(options);

  async function answer(request: Request, peer: string | undefined): Promise<Response> {
    const { method } = request;
    if (method !== "GET" && method !== "HEAD") return answerOtherMethod(request);
    if (!searchLimit || !searchPaths.has(pathOf(request.url))) return route(request);
    const { limiter, clientOf } = searchLimit;
    const decision = await limiter.take(clientOf(peer, request.headers.get("x-forwarded-for")));
    const response = decision.allowed ? await route(request) : refuse(decision);
    setRateLimitHeaders(response.headers, searchLimit, decision);
    return response;
  }

  /** HEAD is GET without the body, with the length the body would have. */
  async function route(request: Request): Promise<Response> {
    if (request.method === "GET") return router.fetch(request);
    const { url, headers } = request;
    const response = await router.fetch(new Request(url, { headers }));
    const { byteLength } = await response.arrayBuffer();
    response.headers.set("content-length", String(byteLength));
    return new Response(null, response);
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
    let response: Response;
    try {
      response = await answer(withHost(request), peer);
    } catch (error) {
      onBug(error, requestId);
      response = fail("internal_error");
    }
    setCommonHeaders(response.headers, requestId);
    return response;
  };
}

/** HTTP/1.0 knows no Host, and without one the URL is a mere path. */
function withHost(request: Request): Request {
  const { url, method, headers } = request;
  return url.startsWith("/") ? new Request(`http://localhost${url}`, { method, headers }) : request;
}

function createRouter(options: AppOptions) {
  const api = () => new Elysia().use(userRoutes(options)).use(searchRoutes(options));
  const hidden = { detail: { hide: true } };
  // By default Elysia takes hosts of three letters, such as `nas`, for a part of the path.
  const app = new Elysia({ strictPath: true, handler: { standardHostname: false } })
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

function setCommonHeaders(headers: Headers, requestId: string): void {
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
  "RateLimit, RateLimit-Policy, Retry-After, X-API-Version, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";
