/**
 * The whole HTTP side as one Elysia app, and the order of what happens to a request. A search passes:
 * `onBeforeHandle` below; the limit, then a fault if there is one, both of which search.ts names; its
 * handler there; and `finish`, which makes the response with ETag and coding, adds the limit's headers
 * and reports to log and metrics, before the body is sent. A refusal or an error reaches `finish`, too.
 */
import { Elysia } from "elysia";
import type { Clients } from "../limit/client-address.ts";
import { SpoiledSnapshot } from "../snapshot/read/open.ts";
import { methodNotAllowed, preflight } from "./cors.ts";
import { type DocsService, docs } from "./docs.ts";
import { drawings } from "./drawings.ts";
import { createExchanges, type ResponseFacts } from "./exchange.ts";
import { type HealthService, health } from "./health.ts";
import { type PagesService, pages } from "./pages.ts";
import { peerOf } from "./peer.ts";
import { createLimitHook, setRateLimitHeaders } from "./rate-limit.ts";
import { toRoutable } from "./request.ts";
import { createRespond } from "./response.ts";
import { fail } from "./result.ts";
import { search } from "./search.ts";
import { sitemap } from "./sitemap.ts";
import { users } from "./users.ts";

export interface AppOptions
  extends Omit<HealthService, "baseUrl">,
    Omit<DocsService, "baseUrl">,
    Omit<PagesService, "ask" | "baseUrl"> {
  clients: Clients;
  /** How long a cache may use a response without asking again; 0 for not at all. */
  cacheMaxAgeSeconds: number;
  /** Whether bodies are compressed for clients that accept it. */
  compress: boolean;
  /** Whether the snapshot is closed, and nothing can be served any more. */
  isClosed(): boolean;
  /** Gets every bug that became a 500, and every error of `onResponse`. */
  onBug(error: unknown, requestId: string): void;
  /** Gets the facts of every response when it is made. */
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
  /** The peer of requests that come without one; without it, their searches are not counted. */
  defaultPeer?: string | undefined;
}

/**
 * Responds to a request: at once, when nothing has to be waited for. `from` says where it came from; see
 * {@link peerOf}. Never rejects, and throws only if `request` is not a `Request`.
 */
export type Fetch = (request: Request, from?: unknown) => Response | Promise<Response>;

export type App = ReturnType<typeof createApp>["app"];

export function createApp(options: AppOptions) {
  const { searchLimit, publicUrl, basePath, isClosed, onBug, onResponse } = options;
  const exchanges = createExchanges(options.clients, options.defaultPeer);
  const respond = createRespond(
    options.cacheMaxAgeSeconds,
    options.page?.allowIndexing ?? false,
    options.compress,
  );
  const service = {
    ...options,
    ask,
    limit: searchLimit && createLimitHook(searchLimit.limiter, exchanges, options.page?.kiosk),
    baseUrl: (request: Request) => publicUrl ?? exchanges.originOf(request) + basePath,
  };

  const api = new Elysia({ strictPath: true }).use(users(service)).use(search(service));
  const documented = new Elysia({ strictPath: true }).use(api).use(health(service));
  const app = new Elysia({ strictPath: true })
    .onError(({ code, error, request }) => {
      if (isClosed() || error instanceof SpoiledSnapshot) return fail("unavailable");
      if (code === "NOT_FOUND") return fail("route_not_found");
      // Handlers check what they are given, and no route takes a body: the rest are bugs.
      report(error, exchanges.of(request).requestId);
      return fail("internal_error");
    })
    .onBeforeHandle(({ params, route }) => {
      if (isClosed()) return fail("unavailable");
      // A slash divides a path, also where it is encoded. Only an icon's name may have one.
      const isDivided =
        !route.endsWith("/icons/:file") && Object.values(params ?? {}).some(hasSlash);
      return isDivided ? fail("route_not_found") : undefined;
    })
    .mapResponse(({ request, responseValue, route }) => finish(request, route, responseValue))
    .use(documented)
    .group("/api", (prefixed) => prefixed.use(api));
  // Not in the chain: a typed client has no use for them.
  app.use(docs(service, documented)).use(drawings(service)).use(pages(service));
  if (options.page?.allowIndexing) app.use(sitemap(service));
  for (const path of new Set(app.routes.map((route) => route.path))) {
    app.all(path, ({ request }) => (request.method === "OPTIONS" ? preflight : methodNotAllowed));
  }

  function finish(request: Request, route: string | undefined, value: unknown): Response {
    const exchange = exchanges.of(request);
    const { requestId, isSubrequest, method, decision, startMs } = exchange;
    const isHead = method === "HEAD" && request.method === "GET";
    const response =
      isBroken(value) && !isHead ? value : respond(request, value, { isHead, isSubrequest });
    response.headers.set("x-request-id", requestId);
    if (searchLimit && decision) setRateLimitHeaders(response, searchLimit, decision);
    try {
      onResponse?.({
        requestId,
        isSubrequest,
        method,
        route: route && templateOf(route),
        status: response.status,
        search: decision && (decision.allowed ? "allowed" : "refused"),
        durationMs: performance.now() - startMs,
        client: () => exchanges.clientOf(request, exchange),
      });
    } catch (error) {
      report(error, requestId);
    }
    return response;
  }

  /** The route without the prefixes that a host and /api give it. */
  function templateOf(route: string): string {
    const own = route.startsWith(`${basePath}/`) ? route.slice(basePath.length) : route;
    return own.replace(/^\/api(?=\/)/, "");
  }

  function report(error: unknown, requestId: string): void {
    try {
      onBug(error, requestId);
    } catch {
      // There is nowhere left to report it, and the client still gets its response.
    }
  }

  /** A request that the page makes for its reader, who is its client. */
  async function ask(request: Request, path: string): Promise<Response> {
    const { peer, requestId } = exchanges.of(request);
    const hops = request.headers.get("x-forwarded-for");
    const headers = new Headers(hops === null ? {} : { "x-forwarded-for": hops });
    const subrequest = new Request(SUBREQUEST_ORIGIN + path, { headers });
    const url = exchanges.originOf(request) + path;
    exchanges.begin(subrequest, { peer, url, requestId, isSubrequest: true });
    return handle(subrequest);
  }

  /** Its type is written down, as that of `app` follows from the plugins, one of which calls this. */
  function handle(request: Request): Response | Promise<Response> {
    return app.fetch(request);
  }

  const fetch: Fetch = (request, from) => {
    if (typeof request?.headers?.get !== "function") {
      throw new TypeError("fetch takes a Request; in Express and node:http, use roadbook.listener");
    }
    const routable = toRoutable(request, basePath);
    const { url, method } = request;
    exchanges.begin(routable, { peer: peerOf(request, from), url, method });
    return handle(routable);
  };
  return { app, fetch };
}

/**
 * Only a fault that closes the connection makes its own Response, which is sent as it is; but not in
 * response to HEAD, of which Bun would send the head all the same.
 */
function isBroken(value: unknown): value is Response {
  return value instanceof Response;
}

function hasSlash(parameter: unknown): boolean {
  return String(parameter).includes("/");
}

/** The client's own origin may be none that a request can have; it is in the exchange. */
const SUBREQUEST_ORIGIN = "http://localhost";
