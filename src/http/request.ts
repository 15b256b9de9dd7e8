/**
 * Parses the raw URL and headers of a request. Nothing is coerced, and malformed input is rejected.
 * Every step takes at most linear time.
 */
import { collapseSpaces } from "../domain/text.ts";
import { hasCodePoints, isTooLong } from "../search/tiers.ts";

const MIN_QUERY_CODE_POINTS = 2;

/**
 * Accepts a decimal integer from 1 to 2^53−1 without a sign, leading zero, exponent or fraction.
 */
export function parseUserId(text: string): number | undefined {
  if (!/^[1-9]\d{0,15}$/.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}

/** Matches each `q` in a query string, whether plain or percent-encoded, and captures its value. */
const PAIR_OF_Q = /(?:^|&)(?:q|%71)(?:=([^&]*))?(?=&|$)/g;

/**
 * Returns the value of `q` in NFC, with white space collapsed and trimmed. Undefined if `q` is
 * missing, given more than once, not valid UTF-8, or shorter than 2 code points. A value that
 * {@link isTooLong} matches no name and is returned without normalization, which can take minutes
 * for a long run of combining marks. White space can be collapsed first, because NFC does not
 * change it.
 */
export function parseQuery(url: string): string | undefined {
  const start = url.indexOf("?");
  if (start < 0) return undefined;
  const end = url.indexOf("#", start);
  const [pair, duplicate] = url.slice(start + 1, end < 0 ? undefined : end).matchAll(PAIR_OF_Q);
  if (pair === undefined || duplicate !== undefined) return undefined;
  const collapsed = decodeWords(pair[1] ?? "");
  if (collapsed === undefined || isTooLong(collapsed)) return collapsed;
  const query = collapsed.normalize("NFC");
  return hasCodePoints(query, MIN_QUERY_CODE_POINTS) ? query : undefined;
}

/** Whether a request id is safe in logs and headers. Spaces, quotes and non-ASCII are rejected. */
export function isRequestId(text: string): boolean {
  return /^[\w.~+/=:@-]{1,128}$/.test(text);
}

/** The index at which the path begins. `url` may lack a scheme and host. */
function pathStart(url: string): number {
  return url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
}

/** The path as the client sent it, still percent-encoded. */
export function pathOf(url: string): string {
  const start = pathStart(url);
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query);
}

/** The origin assumed if a request has no valid host. Such a request is usually local. */
const LOCAL_ORIGIN = "http://localhost";

/** The last origin parsed. Most requests repeat it, and comparing is faster than parsing. */
let last = { prefix: "", origin: LOCAL_ORIGIN };

export function originOf(url: string): string {
  const prefix = url.slice(0, pathStart(url));
  if (prefix !== last.prefix) last = { prefix, origin: URL.parse(url)?.origin ?? LOCAL_ORIGIN };
  return last.origin;
}

/**
 * The origin that a trusted proxy forwards in the rightmost values of X-Forwarded-Proto and
 * X-Forwarded-Host. A malformed value is ignored.
 */
export function forwardedOriginOf(url: string, headers: Headers): string {
  const [, scheme = "http", host = "localhost"] = /^(https?):\/\/([^/]*)/.exec(url) ?? [];
  const proto = lastOf(headers, "x-forwarded-proto", /^https?$/i) ?? scheme;
  return originOf(`${proto}://${lastOf(headers, "x-forwarded-host", /^[\w.:[\]-]+$/) ?? host}/`);
}

/** The last value in a list header, if that value matches `form`. */
function lastOf(headers: Headers, name: string, form: RegExp): string | undefined {
  const list = headers.get(name) ?? "";
  const last = list.slice(list.lastIndexOf(",") + 1).trim();
  return form.test(last) ? last : undefined;
}

/**
 * Decodes form-encoded text and separates the words with single spaces. Undefined if the text is
 * not valid percent-encoded UTF-8.
 */
function decodeWords(text: string): string | undefined {
  try {
    return collapseSpaces(decodeURIComponent(text.replaceAll("+", " ")));
  } catch {
    return undefined;
  }
}

/** Elysia starts looking for the path at this index, so a host that ends earlier is replaced. */
const MIN_PATH_START = 11;

/**
 * Rewrites a request if Elysia cannot handle it. Otherwise, returns it unchanged. The result has:
 * - a host that is long enough for Elysia,
 * - no base path, which some hosts remove beforehand,
 * - GET instead of HEAD, because for HEAD, Elysia would read the whole body to find its length.
 */
export function toRoutable(request: Request, basePath: string): Request {
  const { url, method, headers } = request;
  const start = pathStart(url);
  const mayBeUnderBase = basePath !== "" && url.startsWith(basePath, start);
  if (start >= MIN_PATH_START && method !== "HEAD" && !mayBeUnderBase) return request;
  // The target of a CONNECT request is not a path.
  const path = start < 0 ? "/*" : pathOf(url);
  const inner = `${path}/`.startsWith(`${basePath}/`) ? path.slice(basePath.length) || "/" : path;
  const routableUrl = LOCAL_ORIGIN + inner + (start < 0 ? "" : url.slice(start + path.length));
  // A `Request` cannot have the method CONNECT or TRACE. Every unsupported method becomes POST,
  // because all of them get the same response.
  const isOther = method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
  const routableMethod = method === "HEAD" ? "GET" : isOther ? "POST" : method;
  return new Request(routableUrl, { method: routableMethod, headers });
}
