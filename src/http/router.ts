/** The routes of every feature as one router, and the template of each path that it knows. */
import { Elysia } from "elysia";
import type { Context } from "./context.ts";
import { type DocsScript, docsRoutes } from "./docs.ts";
import { healthRoutes } from "./health.ts";
import { pathOf, pathStart } from "./request.ts";
import { fail } from "./response.ts";
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

const LOCAL_ORIGIN = "http://localhost";

export function createRouter(options: RouterOptions): Router {
  const origins = new WeakMap<Request, string>();
  const originOf = (request: Request) => origins.get(request) ?? originIn(request.url);
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
      const start = pathStart(url);
      if (method === "GET" && url.indexOf("/", 11) === start) return app.fetch(request);
      const plain = new Request(LOCAL_ORIGIN + url.slice(start), { headers });
      // What is answered is what was counted: a path that only now lost its dots is not.
      if (pathOf(plain.url) !== pathOf(url)) return fail("route_not_found");
      origins.set(plain, originOf(request));
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

/** A client that names no host, or none that can be, is taken to be on the same machine. */
function originIn(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : LOCAL_ORIGIN;
}

function withoutApi(path: string): string {
  return path.replace(/^\/api(?=\/)/, "");
}
