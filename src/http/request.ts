/**
 * Parses the raw URL and headers of a request. Nothing is coerced and malformed input is rejected.
 * Every step takes at most linear time.
 */
import { hasCodePoints, isTooLong, MAX_QUERY_CODE_POINTS } from "../search/tiers.ts";

const MIN_QUERY_CODE_POINTS = 2;

/** A decimal integer from 1 to 2^53−1 without sign, leading zero, exponent or fraction. */
export function parseUserId(text: string): number | undefined {
  if (!/^[1-9]\d{0,15}$/.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}

/** The pairs of a query string whose key is `q`, plain or percent-encoded. Captures the value. */
const PAIR_OF_Q = /(?:^|&)(?:q|%71)(?:=([^&]*))?(?=&|$)/g;

/**
 * The value of `q` in NFC, with white space collapsed and trimmed. Undefined if `q` is missing,
 * given more than once, not valid UTF-8, or shorter than 2 code points. A query that {@link
 * isTooLong} matches nothing, so it is returned without normalization, which can take minutes for a
 * long run of marks. NFC changes no white space, so white space may be collapsed first.
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

/** A request id must be safe in a log and in a header: printable ASCII without spaces or quotes. */
export function isRequestId(text: string): boolean {
  return /^[\w.~+/=:@-]{1,128}$/.test(text);
}

/** The index at which the path begins. `url` may lack scheme and host. */
function pathStart(url: string): number {
  return url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
}

/** The path as the client sent it, still percent-encoded. */
export function pathOf(url: string): string {
  const start = pathStart(url);
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query);
}

/** Bounds scheme, host and port, which responses repeat. Host names have at most 253 characters. */
const MAX_PREFIX_LENGTH = 280;

/** The origin for a request without a valid host, which usually comes from the same machine. */
const LOCAL_ORIGIN = "http://localhost";

/** Most requests have the same origin as the last one. Comparing is faster than parsing. */
let last = { prefix: "", origin: LOCAL_ORIGIN };

export function originOf(url: string): string {
  const prefix = url.slice(0, pathStart(url));
  if (prefix.length > MAX_PREFIX_LENGTH) return LOCAL_ORIGIN;
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

/** The last value of a list, if it matches `form`. */
function lastOf(headers: Headers, name: string, form: RegExp): string | undefined {
  const list = headers.get(name) ?? "";
  const last = list.slice(list.lastIndexOf(",") + 1).trim();
  return form.test(last) ? last : undefined;
}

/**
 * Decodes form-encoded text and separates its words by one space. Undefined if the text is not
 * percent-encoded UTF-8. Stops when the result {@link isTooLong}, because joining 120,000 words
 * takes 20 ms.
 */
function decodeWords(text: string): string | undefined {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replace(/\++/g, " "));
  } catch {
    return undefined;
  }
  let words = "";
  for (const [word] of decoded.matchAll(/\P{White_Space}+/gu)) {
    words += words === "" ? word : ` ${word}`;
    if (words.length > 2 * MAX_QUERY_CODE_POINTS) break;
  }
  return words;
}

/**
 * A longer path is not decoded, because no valid parameter is that long and the router takes up to
 * 40 ms to decode 240 KB.
 */
const MAX_DECODED_LENGTH = 4096;

/** Elysia looks for the path from this index on, so a shorter host must be replaced. */
const MIN_PATH_START = 11;

/**
 * Rewrites a request that Elysia cannot handle, and returns any other unchanged. The result has:
 * - a host that is long enough for Elysia,
 * - no path that takes long to decode,
 * - no base path, which some hosts have removed already,
 * - GET instead of HEAD, for which Elysia would read the whole body to find its length.
 */
export function toRoutable(request: Request, basePath: string): Request {
  const { url, method, headers } = request;
  const start = pathStart(url);
  const mayBeUnderBase = basePath !== "" && url.startsWith(basePath, start);
  const isReadable = start >= MIN_PATH_START && method !== "HEAD" && !mayBeUnderBase;
  if (isReadable && url.length <= MAX_DECODED_LENGTH) return request;
  // The target of CONNECT is not a path.
  const path = start < 0 ? "/*" : pathOf(url);
  if (isReadable && path.length <= MAX_DECODED_LENGTH) return request;
  const inner = `${path}/`.startsWith(`${basePath}/`) ? path.slice(basePath.length) || "/" : path;
  const plain = inner.length > MAX_DECODED_LENGTH ? inner.replaceAll("%", "_") : inner;
  const routableUrl = LOCAL_ORIGIN + plain + (start < 0 ? "" : url.slice(start + path.length));
  // The Fetch standard forbids CONNECT and TRACE. All unsupported methods get the same response as
  // POST.
  const isOther = method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
  const routableMethod = method === "HEAD" ? "GET" : isOther ? "POST" : method;
  return new Request(routableUrl, { method: routableMethod, headers });
}
