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
      const found = elysia.router.dynamic.find("GET", path);
      const route = found ? routeAt.get(found.store.route) : undefined;
      return found && route ? { route, params: found.params } : undefined;
    },
    handle: ({ route, params }, request, ask) => route.handler({ request, params, service, ask }),
  };
}
