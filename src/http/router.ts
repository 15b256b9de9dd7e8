/**
 * The table of routes in Elysia: its router finds the route at a path. Elysia makes no response of
 * them: what a handler returns goes to app.ts as it is.
 */
import { Elysia } from "elysia";
import type { Context, Service } from "./context.ts";
import { createOpenApiDocument } from "./docs.ts";
import type { Result } from "./result.ts";
import { pathsOf, type Route, routesWith } from "./routes.ts";

export type RouterOptions = Omit<Service, "openApi">;

export interface Router {
  /** What is at a path, as it stands in the request; undefined where nothing is. */
  find(path: string): Match | undefined;
  /** What the route's handler returns for a GET, or for a HEAD as if it were one. */
  handle(match: Match, request: Request, ask: Context["ask"]): Result | Promise<Result>;
}

export interface Match {
  route: Route;
  params: Context["params"];
}

/**
 * A slash divides a path, also where it is encoded, so it is part of no parameter. Only what a dataset
 * calls the file of an icon may have one.
 */
const ENCODED_SLASH = /^(?!\/icons\/).*%2f/i;

/**
 * No parameter that stands for something is as long, percent-encoded or not, so no more is decoded: the
 * router takes up to 40 ms for 240 KB.
 */
const MAX_DECODED_LENGTH = 4096;

export function createRouter(options: RouterOptions): Router {
  const routes = routesWith(options);
  const service: Service = { ...options, openApi: createOpenApiDocument(routes) };
  // Ahead of time (`aot`), Elysia would read the source of handlers and write its own around them.
  const elysia = new Elysia({ aot: false, strictPath: true })
    .decorate("service", service)
    // app.ts calls the handlers of the table, each with the client it is for.
    .decorate("ask", () => Promise.reject<Response>(new Error("no client to ask for")));
  const routeAt = new Map<string, Route>();
  for (const route of routes) {
    for (const path of pathsOf(route)) {
      elysia.get(path, route.handler);
      routeAt.set(path, route);
    }
  }

  return {
    find(path) {
      if (ENCODED_SLASH.test(path)) return undefined;
      const plain = path.length > MAX_DECODED_LENGTH ? path.replaceAll("%", "_") : path;
      const found = elysia.router.dynamic.find("GET", plain);
      const route = found ? routeAt.get(found.store.route) : undefined;
      return found && route ? { route, params: found.params } : undefined;
    },
    handle: ({ route, params }, request, ask) => route.handler({ request, params, service, ask }),
  };
}
