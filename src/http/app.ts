/**
 * Builds the Elysia app. A request such as `GET /api/users/public/42` passes from top to bottom:
 *
 * - `refuseEncodedSlash` makes its path unknown if that has one;
 * - the route validates `params` and `query` by its schemas;
 * - `refuseIfClosed` ends it if the Roadbook is closed;
 * - the handler reads the snapshot, and returns an object, a `Content`, or an error made by `fail`;
 * - a fault may be injected instead;
 * - `explain` makes an error instead if there is no route, the input is invalid, or a step throws;
 * - `respond` makes the `Response`, and reports it for the log and metrics.
 */
import {
  type Context,
  Elysia,
  ElysiaCustomStatusResponse,
  type ErrorHandler,
  NotFoundError,
} from "elysia";
import { lazy } from "../domain/lazy.ts";
import { iconPath } from "../web/page.ts";
import type { AppOptions, RouteOptions } from "./app-options.ts";
import { docs } from "./docs.ts";
import { API_PREFIX, isErrorCode } from "./endpoints.ts";
import { fail, respondToMethod } from "./errors.ts";
import { health } from "./health.ts";
import { pageFiles } from "./pages/page-files.ts";
import { createPages } from "./pages/pages.ts";
import { createCounters } from "./rate-limit.ts";
import { createRequestHandler } from "./request.ts";
import { createContexts } from "./request-context.ts";
import { createRespond } from "./response.ts";
import { search } from "./search.ts";
import { baseUrlOf } from "./url.ts";
import { users } from "./users.ts";

export type App = ReturnType<ReturnType<typeof createApp>["mountable"]>;

export function createApp(options: AppOptions) {
  const { limiter, basePath, closed } = options;
  const unavailable = fail("unavailable");
  const contexts = createContexts(options);
  const respond = createRespond(options, contexts);
  const routeOptions: RouteOptions = {
    ...options,
    baseUrl: (request) => baseUrlOf(contexts.of(request), options),
    counters: limiter && createCounters(limiter, contexts),
  };

  const api = new Elysia().use(users(routeOptions)).use(search(routeOptions));
  const documented = new Elysia().use(api).use(health(routeOptions));
  const { routes: pages, notFound } = createPages(routeOptions);
  const untyped = [docs(routeOptions, documented), pageFiles(routeOptions), pages];

  function assemble(root = new Elysia({ strictPath: true })) {
    const app = root
      .onTransform(refuseEncodedSlash)
      .onBeforeHandle(refuseIfClosed)
      .onAfterHandle(options.faultHooks)
      .onError(explain)
      .mapResponse(respond)
      .use(documented)
      .group(API_PREFIX, (prefixed) => prefixed.use(api));
    // Added outside the chain, because a typed client has no use for these routes.
    for (const plugin of untyped) app.use(plugin);

    for (const path of new Set(app.routes.map((route) => route.path))) {
      app.all(path, ({ request }) => respondToMethod(request.method));
    }
    // In another app, an unmatched path would get the host's 404, outside of this app's hooks.
    if (basePath) app.all("/*", ({ request }) => notFound(request));
    return app;
  }

  /** The only use of `server`. Elysia defines it for each request to an app of which a route names it. */
  function createMountable() {
    const root = new Elysia({ strictPath: true }).onTransform(({ request, server }) => {
      // Bun knows no address for a request of the host program itself or through a Unix socket. Without
      // the option `defaultPeer`, such searches are not counted.
      contexts.start(request, server?.requestIP?.(request)?.address);
    });
    return assemble(root);
  }

  /** An encoded slash counts as a path separator, except in the name of an icon. */
  function refuseEncodedSlash({ path, route }: Pick<Context, "path" | "route">): void {
    if (/%2f/i.test(path) && !route.endsWith(iconPath(":file"))) throw new NotFoundError();
  }

  function refuseIfClosed() {
    return closed.aborted ? unavailable : undefined;
  }

  function explain({ code, error, request }: Parameters<ErrorHandler>[0]) {
    if (closed.aborted) return unavailable;
    // Also for a file that does not exist.
    if (code === "NOT_FOUND") return notFound(request);
    // The `error` of a schema is the error code.
    if (code === "VALIDATION" && isErrorCode(error.customError)) return fail(error.customError);
    // A hook of a host app has thrown it.
    if (error instanceof ElysiaCustomStatusResponse) return error;
    options.onBug(error, contexts.of(request).requestId);
    return fail("internal_error");
  }

  const handler = createRequestHandler({ app: assemble(), contexts, respond, basePath });
  return { mountable: lazy(createMountable), handler };
}
