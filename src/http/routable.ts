/** Rewrites requests that Elysia could not route as they are. */
import { LOCAL_ORIGIN, pathOf, pathStart, withoutBase } from "./url.ts";

/** Elysia starts looking for the path at this index, so a host that ends earlier is replaced. */
const MIN_PATH_START = 11;

/**
 * Rewrites a request if its host is too short for Elysia, its path has the base path, or its method
 * is HEAD, for which Elysia would read the whole body to find its length.
 */
export function toRoutable(request: Request, basePath: string): Request {
  const { url, method, headers } = request;
  const start = pathStart(url);
  const mayBeUnderBase = basePath !== "" && url.startsWith(basePath, start);
  if (start >= MIN_PATH_START && method !== "HEAD" && !mayBeUnderBase) return request;

  // The target of a CONNECT request is not a path.
  const path = start < 0 ? "/*" : pathOf(url);
  const inner = withoutBase(path, basePath) || "/";
  const query = start < 0 ? "" : url.slice(start + path.length);

  // Every unsupported method becomes POST, because a `Request` cannot have CONNECT or TRACE.
  const known = method === "HEAD" ? "GET" : method;
  const routable = known === "GET" || known === "OPTIONS" ? known : "POST";
  return new Request(LOCAL_ORIGIN + inner + query, { method: routable, headers });
}
