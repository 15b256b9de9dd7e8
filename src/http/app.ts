/**
 * Builds the Elysia app and defines the order in which a search is processed:
 *
 * 1. `onBeforeHandle` responds with a 503 if the snapshot has been closed.
 * 2. `beforeSearch` applies the rate limit, then the fault injector if there is one.
 * 3. The handler in search.ts runs the search.
 * 4. `finish` builds the response (response.ts): it chooses the content coding, adds the ETag or
 *    makes a 304, compresses the body, and sets the rate-limit and other headers.
 * 5. `finish` calls `onResponse` for the metrics and the log. Then the body is sent.
 *
 * If a step responds early or throws, steps 4 and 5 still run.
 */
import { Elysia } from "elysia";
import type { Clients } from "../limit/client-address.ts";
import { methodNotAllowed, preflight } from "./cors.ts";
import { type DocsService, docs } from "./docs.ts";
import { drawings } from "./drawings.ts";
import { type HealthService, health } from "./health.ts";
import { createPages, type PagesService } from "./pages.ts";
import { peerOf } from "./peer.ts";
import { createLimitHook, createSearchCounter, setRateLimitHeaders } from "./rate-limit.ts";
import { toRoutable } from "./request.ts";
import {
  createRequestContexts,
  type RequestContexts,
  type ResponseFacts,
} from "./request-context.ts";
import { createRespond } from "./response.ts";
import { fail } from "./result.ts";
import { search } from "./search.ts";
import { hooksOf } from "./service.ts";
import { sitemap } from "./sitemap.ts";
import { users } from "./users.ts";

export interface AppOptions
  extends Omit<HealthService, "baseUrl">,
    Omit<DocsService, "baseUrl">,
    Omit<PagesService, "countSearch" | "baseUrl"> {
  clients: Clients;
  /** How long a cache may reuse an API response without revalidation; 0 means always revalidate. */
  cacheMaxAgeSeconds: number;
  /** Whether bodies are compressed for clients that accept compression. */
  compress: boolean;
  /** Whether the snapshot has been closed. If so, every request gets a 503. */
  isClosed(): boolean;
  /** Receives every bug that caused a 500, and every error that `onResponse` throws. */
  onBug(error: unknown, requestId: string): void;
  /** Receives the facts about every response before the body is sent. */
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
  /** The peer assumed for requests without one. A search with no peer at all is not counted. */
  defaultPeer?: string | undefined;
}

/**
 * Responds to a request, synchronously if there is nothing to await. `from` says where the request
 * came from; see {@link peerOf}. Never rejects, and throws only if `request` is not a `Request`.
 */
export type FetchHandler = (request: Request, from?: unknown) => Response | Promise<Response>;

export type App = ReturnType<typeof createApp>["app"];

export function createApp(options: AppOptions) {
  const { searchLimit, publicUrl, basePath, isClosed, page, fault } = options;
  const contexts = createRequestContexts(options.clients, options.defaultPeer);
  const countSearch =
    searchLimit && createSearchCounter(searchLimit.limiter, contexts, page?.kiosk);
  const finish = createFinish(options, contexts);
  const service = {
    ...options,
    countSearch,
    beforeSearch: hooksOf(countSearch && createLimitHook(countSearch), fault),
    baseUrl: (request: Request) => publicUrl ?? contexts.originOf(request) + basePath,
  };

  const pages = createPages(service);
  const api = new Elysia({ strictPath: true }).use(users(service)).use(search(service));
  const documented = new Elysia({ strictPath: true }).use(api).use(health(service));
  const app = new Elysia({ strictPath: true })
    .onError(({ code, error, request }) => {
      if (isClosed()) return fail("unavailable");
      if (code === "NOT_FOUND") return pages.notFoundPage(request) ?? fail("route_not_found");
      // Handlers validate their input and no route reads a body, so any other error is a bug.
      reportBug(options, error, contexts.of(request).requestId);
      return fail("internal_error");
    })
    .onBeforeHandle(({ params, route }) => {
      if (isClosed()) return fail("unavailable");
      // An encoded slash counts as a path separator, except in the name of an icon.
      const isDivided =
        !route.endsWith("/icons/:file") && Object.values(params ?? {}).some(hasSlash);
      return isDivided ? fail("route_not_found") : undefined;
    })
    .mapResponse(({ request, responseValue, route }) => finish(request, route, responseValue))
    .use(documented)
    .group("/api", (prefixed) => prefixed.use(api));
  // Added outside the chain, because a typed client has no use for these routes.
  app.use(docs(service, documented)).use(drawings(service)).use(pages.routes);
  if (page?.allowIndexing) app.use(sitemap(service));
  for (const path of new Set(app.routes.map((route) => route.path))) {
    app.all(path, ({ request }) => (request.method === "OPTIONS" ? preflight : methodNotAllowed));
  }

  const fetch: FetchHandler = (request, from) => {
    if (typeof request?.headers?.get !== "function") {
      throw new TypeError("fetch takes a Request; in Express and node:http, use roadbook.listener");
    }
    const routable = toRoutable(request, basePath);
    const { url, method } = request;
    contexts.start(routable, { peer: peerOf(request, from), url, method });
    return app.fetch(routable);
  };
  return { app, fetch };
}

/** Returns the last step of every request, which builds and reports the response. */
function createFinish(options: AppOptions, contexts: RequestContexts) {
  const { searchLimit, basePath, cacheMaxAgeSeconds, compress, onResponse } = options;
  const respond = createRespond(cacheMaxAgeSeconds, options.page?.allowIndexing ?? false, compress);
  return (request: Request, route: string | undefined, value: unknown): Response => {
    const context = contexts.of(request);
    const { requestId, method, decision, startMs } = context;
    const isHead = method === "HEAD" && request.method === "GET";
    const response = isAborting(value) && !isHead ? value : respond(request, value, isHead);
    response.headers.set("x-request-id", requestId);
    if (searchLimit && decision) setRateLimitHeaders(response, searchLimit, decision);
    try {
      onResponse?.({
        requestId,
        method,
        route: route && templateOf(route, basePath),
        status: response.status,
        search: decision && (decision.allowed ? "allowed" : "refused"),
        durationMs: performance.now() - startMs,
        client: () => contexts.clientOf(request, context),
      });
    } catch (error) {
      reportBug(options, error, requestId);
    }
    return response;
  };
}

/** Strips the base path and the /api prefix from a route. */
function templateOf(route: string, basePath: string): string {
  const own = route.startsWith(`${basePath}/`) ? route.slice(basePath.length) : route;
  return own.replace(/^\/api(?=\/)/, "");
}

function reportBug({ onBug }: AppOptions, error: unknown, requestId: string): void {
  try {
    onBug(error, requestId);
  } catch {
    // The error cannot be reported anywhere else, and the client must still get a response.
  }
}

/**
 * Only a fault that closes the connection returns a `Response`, which is sent unchanged. A HEAD
 * request gets a 500 instead, because Bun would send the headers before closing the connection.
 */
function isAborting(value: unknown): value is Response {
  return value instanceof Response;
}

function hasSlash(parameter: unknown): boolean {
  return String(parameter).includes("/");
}
