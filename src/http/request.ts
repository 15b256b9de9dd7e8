/** Parses a request's URL and headers. Each step takes linear time, and none of them throws. */
import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";

/** The index at which the path begins. `url` may lack a scheme and host. */
function pathStart(url: string): number {
  return url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
}

export function pathOf(url: string): string {
  const start = pathStart(url);
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query);
}

/** A host as it stands in a URL, where an IPv6 address has brackets. */
export const toUrlHost = (host: string): string => (host.includes(":") ? `[${host}]` : host);

export const withoutBase = (path: string, basePath: string): string =>
  `${path}/`.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;

/** Negotiates by the start of a header. All of a 15 KB header would outlast most pages. */
export function preferencesIn(headers: Headers, name: string): Negotiator {
  return new Negotiator({ headers: { [name]: headers.get(name)?.slice(0, 1000) } });
}

const LOCAL_ORIGIN = "http://localhost";

/** Parsing a URL takes longer than reading a profile, and most requests are for the same host. */
const origins = new LRUCache<string, string>({
  max: 100,
  memoMethod: (url) => URL.parse(url)?.origin ?? LOCAL_ORIGIN,
});

export function originOf(url: string): string {
  const start = pathStart(url);
  return origins.memo(start < 0 ? url : url.slice(0, start));
}

/** The origin in X-Forwarded-Proto and -Host, set by a trusted proxy. Ignores malformed values. */
export function forwardedOriginOf(url: string, headers: Headers): string {
  const [, ownScheme = "http", ownHost = "localhost"] = /^(https?):\/\/([^/]*)/.exec(url) ?? [];
  // The rightmost value of each list counts.
  const proto = /(?:^|,)\s*(https?)\s*$/i.exec(headers.get("x-forwarded-proto") ?? "")?.[1];
  const host = /(?:^|,)\s*([\w.:[\]-]+)\s*$/.exec(headers.get("x-forwarded-host") ?? "")?.[1];
  const scheme = proto ?? ownScheme;
  // Not every value of this form is a host, such as one with the port 99999.
  const forwarded = host === undefined ? null : URL.parse(`${scheme}://${host}/`);
  return forwarded?.origin ?? originOf(`${scheme}://${ownHost}/`);
}

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
