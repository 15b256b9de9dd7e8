/** The routes of every feature as one router, and the template of each path that it knows. */
import { Elysia } from "elysia";
import { fail } from "./answer.ts";
import type { Context } from "./context.ts";
import { type DocsScript, docsRoutes } from "./docs.ts";
import { healthRoutes } from "./health.ts";
import { pathOf } from "./request.ts";
import { searchRoutes } from "./search.ts";
import { userRoutes } from "./users.ts";

export interface RouterOptions extends Omit<Context, "originOf"> {
  docsScript: DocsScript;
}

export interface Router {
  /** Answers a GET, or a HEAD as if it were one. Rejects with what a handler threw. */
  fetch(request: Request): Promise<Response>;
  /**
   * The template of a path, such as `/users/public/:userId`: one for the root and for /api, as those
   * are one endpoint. Undefined for a path that is not known.
   */
  templateOf(path: string): string | undefined;
}

export function createRouter(options: RouterOptions): Router {
  const origins = new WeakMap<Request, string>();
  const originOf = (request: Request) => origins.get(request) ?? new URL(request.url).origin;
  const app = createApp({ ...options, originOf });
  const paths = app.routes.map(({ path }) => path);
  const fixed = new Map(
    paths.filter((path) => !path.includes(":")).map((path) => [path, withoutApi(path)]),
  );
  const patterns = paths
    .filter((path) => path.includes(":"))
    .map((path) => ({
      pattern: new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`),
      template: withoutApi(path),
    }));

  return {
    /** Elysia looks for the path behind the eleventh character of the URL: too far for hosts such as
     * `nas`, and for HTTP/1.0, whose URL is a mere path. */
    async fetch(request) {
      const { method, url, headers } = request;
      const path = pathOf(url);
      if (method === "GET" && url.startsWith(path, url.indexOf("/", 11))) return app.fetch(request);
      const query = url.indexOf("?");
      const plain = new Request(`http://localhost${path}${query < 0 ? "" : url.slice(query)}`, {
        headers,
      });
      if (URL.canParse(url)) origins.set(plain, new URL(url).origin);
      return app.fetch(plain);
    },
    templateOf: (path) =>
      fixed.get(path) ?? patterns.find(({ pattern }) => pattern.test(path))?.template,
  };
}

function createApp(context: RouterOptions & Context) {
  const api = () => new Elysia().use(userRoutes(context)).use(searchRoutes(context));
  const hidden = { detail: { hide: true } };
  return (
    new Elysia({ strictPath: true })
      // What a handler throws is for the caller of `fetch`; here it only must not be answered.
      .onError(({ code, error }) => {
        if (code === "NOT_FOUND") return fail("route_not_found");
        throw error;
      })
      .use(api())
      .group("/api", hidden, (group) => group.use(api()))
      .use(healthRoutes(context))
      .use(docsRoutes(context.docsScript))
      .get("/", () => new Response(null, { status: 302, headers: { location: "/docs" } }), hidden)
  );
}

function withoutApi(path: string): string {
  return path.replace(/^\/api(?=\/)/, "");
}
