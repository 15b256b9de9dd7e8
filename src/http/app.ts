/** Builds the Elysia app. */
import { Elysia, ElysiaCustomStatusResponse, type ErrorHandler } from "elysia";
import type { ErrorCode } from "../domain/api.ts";
import type { Clients } from "../limit/client-address.ts";
import { type DocsService, docs } from "./docs.ts";
import { drawings } from "./drawings.ts";
import { type HealthService, health } from "./health.ts";
import { createPages, type PagesService } from "./pages.ts";
import { createLimitHook, createSearchCounter } from "./rate-limit.ts";
import { toRoutable } from "./request.ts";
import { createRequestContexts, peerOf } from "./request-context.ts";
import { createRespond, preflight, type ResponseOptions } from "./response.ts";
import { busy, fail } from "./result.ts";
import { search } from "./search.ts";
import { sitemap } from "./sitemap.ts";
import { users } from "./users.ts";

type Services = HealthService & DocsService & PagesService;

export interface AppOptions extends ResponseOptions, Omit<Services, "countSearch" | "baseUrl"> {
  page: PagesService["page"];
  clients: Clients;
  /** Once the snapshot is closed, every request gets a 503. */
  isClosed(): boolean;
  onBug(error: unknown, requestId: string): void;
  /** The peer assumed for requests without one. A search with no peer at all is not counted. */
  defaultPeer?: string | undefined;
}

/** {@link peerOf} explains `from`. Throws only if `request` is not a `Request`. */
export type FetchHandler = (request: Request, from?: unknown) => Response | Promise<Response>;

/** Lets a server give clients turns, and notice an untrusted proxy. */
export type Door = Omit<ReturnType<typeof createApp>, "app">;

export type App = ReturnType<typeof createApp>["app"];

export function createApp(options: AppOptions) {
  const { searchLimit, publicUrl, basePath, isClosed, page } = options;
  const contexts = createRequestContexts(options.clients, options.defaultPeer);
  const countSearch = searchLimit && createSearchCounter(searchLimit.limiter, contexts);
  const service = {
    ...options,
    baseUrl: (request: Request) => publicUrl ?? contexts.originOf(request) + basePath,
    countSearch,
    limitSearch: countSearch ? [createLimitHook(countSearch)] : [],
  };
  const pages = createPages(service);
  const respond = createRespond(options, contexts, reportBug);

  const api = new Elysia({ strictPath: true }).use(users(service)).use(search(service));
  const documented = new Elysia({ strictPath: true }).use(api).use(health(service));
  const app = new Elysia({ strictPath: true })
    .onTransform(refuse)
    .onError(explain)
    .mapResponse(respond)
    .use(documented)
    .group("/api", (prefixed) => prefixed.use(api));
  // Added outside the chain, because a typed client has no use for these routes.
  app.use(docs(service, documented)).use(drawings(service)).use(pages.routes);
  if (page?.allowIndexing) app.use(sitemap(service));
  for (const path of new Set(app.routes.map((route) => route.path))) {
    app.all(path, ({ request }) => {
      return request.method === "OPTIONS" ? preflight : fail("method_not_allowed");
    });
  }
  // In another app, an unmatched path would get the host's 404, outside of this app's hooks.
  if (basePath) app.all("/*", ({ request }) => notFound(request));

  function notFound(request: Request) {
    return pages.notFoundPage(request) ?? fail("route_not_found");
  }

  function refuse({ path, route }: { path: string; route: string }): void {
    if (isClosed()) throw fail("unavailable");
    // An encoded slash counts as a path separator, except in the name of an icon.
    const isDivided = /%2f/i.test(path) && !route.endsWith("/icons/:file");
    if (isDivided) throw fail("route_not_found");
  }

  function explain({ code, error, request }: Parameters<ErrorHandler>[0]) {
    if (isClosed()) return fail("unavailable");
    if (code === "NOT_FOUND") return notFound(request);
    // If validation fails, the `error` of the schema is the error code.
    if (code === "VALIDATION") return fail(error.customError as ErrorCode);
    if (error instanceof ElysiaCustomStatusResponse) return error;
    reportBug(error, contexts.of(request).requestId);
    return fail("internal_error");
  }

  function reportBug(error: unknown, requestId: string): void {
    try {
      options.onBug(error, requestId);
    } catch {
      // The client must still get a response.
    }
  }

  /** If `isRefused`, responds that too many requests of this client are waiting. */
  function fetch(request: Request, from?: unknown, isRefused = false) {
    if (typeof request?.headers?.get !== "function") {
      throw new TypeError("fetch takes a Request; in Express and node:http, use roadbook.listener");
    }
    const routable = toRoutable(request, basePath);
    contexts.start(routable, request, peerOf(request, from));
    if (isRefused) return respond({ request: routable, responseValue: busy }) as Response;
    return app.fetch(routable);
  }

  const partsOf = (request: Request, from: unknown) => {
    return { peer: peerOf(request, from), headers: request.headers };
  };
  type Given = Parameters<typeof partsOf>;
  const clientOf = (...given: Given) => contexts.clientOf(partsOf(...given));
  const hidesClients = (...given: Given) => contexts.hidesClients(partsOf(...given));
  return { app, fetch, clientOf, hidesClients };
}
