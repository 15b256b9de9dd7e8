/** Finds the route at a path with Elysia's router. Elysia handles no request: app.ts calls the handlers. */
import { Elysia } from "elysia";
import { pathsOf, type Route } from "./routes.ts";

export interface Match {
  route: Route;
  /** The parameters of its path, percent-decoded. */
  params: Record<string, string>;
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

/** Finds what is at a path, as it stands in the request; undefined where nothing is. */
export function createRouter(routes: readonly Route[]): (path: string) => Match | undefined {
  // Ahead of time (`aot`), Elysia would read the source of handlers and write its own around them.
  const elysia = new Elysia({ aot: false, strictPath: true });
  const routeAt = new Map<string, Route>();
  for (const route of routes) {
    for (const path of pathsOf(route)) {
      elysia.get(path, () => {});
      routeAt.set(path, route);
    }
  }
  return (path) => {
    if (ENCODED_SLASH.test(path)) return undefined;
    const plain = path.length > MAX_DECODED_LENGTH ? path.replaceAll("%", "_") : path;
    const found = elysia.router.dynamic.find("GET", plain);
    const route = found ? routeAt.get(found.store.route) : undefined;
    return found && route ? { route, params: found.params } : undefined;
  };
}
