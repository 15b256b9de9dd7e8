/**
 * The parts of a request's URL, each found in linear time and without an error, and the base URL of
 * links.
 */
import { parseQueryFromURL } from "elysia/parse-query";
import { LRUCache } from "lru-cache";

/** The origin of a request without a host. */
export const LOCAL_ORIGIN = "http://localhost";

/** The index at which the path begins. `url` may lack a scheme and host. */
export function pathStart(url: string): number {
  return url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
}

export function pathOf(url: string): string {
  const start = pathStart(url);
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query);
}

/** Decoded as Elysia does for the API, also if malformed. The last of several values counts. */
export function parametersOf(url: string): Record<string, string> {
  const start = url.indexOf("?", pathStart(url));
  return start < 0 ? {} : parseQueryFromURL(url, start + 1);
}

export const isUnder = (path: string, basePath: string): boolean =>
  `${path}/`.startsWith(`${basePath}/`);

export const withoutBase = (path: string, basePath: string): string =>
  isUnder(path, basePath) ? path.slice(basePath.length) : path;

/** The URL to which paths are appended: the public URL, or the request's origin and the base path. */
export function baseUrlOf(
  { request, isTrusted }: { request: Request; isTrusted: boolean },
  { publicUrl, basePath }: { publicUrl: string | undefined; basePath: string },
): string {
  if (publicUrl !== undefined) return publicUrl;
  return (isTrusted ? forwardedOriginOf(request) : ownOriginOf(request.url)) + basePath;
}

/** The scheme, a host of 253 characters, which is the longest, and a port. */
const MAX_ORIGIN = "https://".length + 253 + ":65535".length;

/** Parsing a URL takes longer than reading a profile, and most requests are for the same host. */
const origins = new LRUCache<string, string>({
  max: 100,
  memoMethod(url) {
    // Parsing a longer one, such as 14 KB of accents, takes long.
    const origin = url.length > MAX_ORIGIN ? undefined : URL.parse(url)?.origin;
    // The origin of a URL with an unknown scheme is the text "null".
    return origin?.startsWith("http") ? origin : LOCAL_ORIGIN;
  },
});

function ownOriginOf(url: string): string {
  const start = pathStart(url);
  return origins.memo(start < 0 ? url : url.slice(0, start));
}

/** The origin in X-Forwarded-Proto and -Host. Ignores malformed values. */
function forwardedOriginOf({ url, headers }: Request): string {
  const [, ownScheme = "http", ownHost = "localhost"] = /^(https?):\/\/([^/]*)/.exec(url) ?? [];
  // The rightmost value of each list counts.
  const proto = /(?:^|,)\s*(https?)\s*$/i.exec(headers.get("x-forwarded-proto") ?? "")?.[1];
  const host = /(?:^|,)\s*([\w.:[\]-]+)\s*$/.exec(headers.get("x-forwarded-host") ?? "")?.[1];
  const scheme = proto ?? ownScheme;
  // Not every value of this form is a host, such as one with the port 99999.
  const forwarded = host === undefined ? null : URL.parse(`${scheme}://${host}/`);
  return forwarded?.origin ?? ownOriginOf(`${scheme}://${ownHost}/`);
}
