/**
 * Reads what clients send, from the raw text: nothing is coerced, what is odd is refused, and every
 * step takes time in proportion to the length at most.
 */
import { hasCodePoints, isTooLong, MAX_QUERY_CODE_POINTS } from "../search/tiers.ts";

const MIN_QUERY_CODE_POINTS = 2;

/** A decimal integer from 1 to 2^53−1 without sign, leading zero, exponent or fraction. */
export function parseUserId(text: string): number | undefined {
  if (!/^[1-9]\d{0,15}$/.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}

/** The pairs of a query string whose key is `q`, also percent-encoded; captures the value. */
const PAIR_OF_Q = /(?:^|&)(?:q|%71)(?:=([^&]*))?(?=&|$)/g;

/**
 * The value of `q` in the URL in NFC with white space collapsed and trimmed, or undefined: it must
 * come once, be UTF-8 and have 2 characters then. One that {@link isTooLong} matches nothing
 * and is returned as it is, because NFC of a long run of marks takes minutes; NFC changes no white
 * space, so collapsing may come first.
 */
export function parseQuery(url: string): string | undefined {
  const start = url.indexOf("?");
  if (start < 0) return undefined;
  const end = url.indexOf("#", start);
  const [pair, another] = url.slice(start + 1, end < 0 ? undefined : end).matchAll(PAIR_OF_Q);
  if (pair === undefined || another !== undefined) return undefined;
  const collapsed = decodeWords(pair[1] ?? "");
  if (collapsed === undefined || isTooLong(collapsed)) return collapsed;
  const shown = collapsed.normalize("NFC");
  return hasCodePoints(shown, MIN_QUERY_CODE_POINTS) ? shown : undefined;
}

/** What may stand for a request in a log and in a header: printable ASCII without spaces or quotes. */
export function isRequestId(text: string): boolean {
  return /^[\w.~+/=:@-]{1,128}$/.test(text);
}

/** Where the path begins; `url` may have no scheme and host. */
function pathStart(url: string): number {
  return url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
}

/** The path as it stands in the request, still encoded. */
export function pathOf(url: string): string {
  const start = pathStart(url);
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query);
}

/** With the scheme and a port. A host name has at most 253 characters, and responses repeat it. */
const MAX_PREFIX_LENGTH = 280;

/** The origin of a client that names no host, or none that can be: it is on the same machine. */
const LOCAL_ORIGIN = "http://localhost";

/** Most requests have the origin of the one before: to parse it takes ten times as long as to see that. */
let last = { prefix: "", origin: LOCAL_ORIGIN };

export function originOf(url: string): string {
  const prefix = url.slice(0, pathStart(url));
  if (prefix.length > MAX_PREFIX_LENGTH) return LOCAL_ORIGIN;
  if (prefix !== last.prefix) last = { prefix, origin: URL.parse(url)?.origin ?? LOCAL_ORIGIN };
  return last.origin;
}

/**
 * The origin of a request from a proxy that says, in the rightmost values of its headers, how the client
 * calls the server. A malformed value counts as none.
 */
export function forwardedOriginOf(url: string, headers: Headers): string {
  const [, scheme = "http", host = "localhost"] = /^(https?):\/\/([^/]*)/.exec(url) ?? [];
  const proto = lastOf(headers, "x-forwarded-proto", /^https?$/i) ?? scheme;
  return originOf(`${proto}://${lastOf(headers, "x-forwarded-host", /^[\w.:[\]-]+$/) ?? host}/`);
}

/** The last value of a list, if it has that form. */
function lastOf(headers: Headers, name: string, form: RegExp): string | undefined {
  const list = headers.get(name) ?? "";
  const last = list.slice(list.lastIndexOf(",") + 1).trim();
  return form.test(last) ? last : undefined;
}

/**
 * The words in a form's encoding, one space between them; undefined for what is not the
 * percent-encoding of UTF-8. Stops when it {@link isTooLong}: to put together 120,000 words
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
 * No parameter that stands for something is as long, percent-encoded or not, so no more is decoded: the
 * router takes up to 40 ms for 240 KB.
 */
const MAX_DECODED_LENGTH = 4096;

/** Elysia looks for the path from here on, behind the shortest host that it knows. */
const MIN_PATH_START = 11;

/**
 * The request as Elysia can handle it: with a host of some length, without a path that takes long to
 * decode, without the base path, which some hosts have removed already, and HEAD as GET, since Elysia
 * reads a body to its end to find its length. Nearly always that is the request itself.
 */
export function toRoutable(request: Request, basePath: string): Request {
  const { url, method, headers } = request;
  const start = pathStart(url);
  const mayBeUnderBase = basePath !== "" && url.startsWith(basePath, start);
  const isReadable = start >= MIN_PATH_START && method !== "HEAD" && !mayBeUnderBase;
  if (isReadable && url.length <= MAX_DECODED_LENGTH) return request;
  // The target of CONNECT, which is no path.
  const path = start < 0 ? "/*" : pathOf(url);
  if (isReadable && path.length <= MAX_DECODED_LENGTH) return request;
  const inner = `${path}/`.startsWith(`${basePath}/`) ? path.slice(basePath.length) || "/" : path;
  const plain = inner.length > MAX_DECODED_LENGTH ? inner.replaceAll("%", "_") : inner;
  const routableUrl = LOCAL_ORIGIN + plain + (start < 0 ? "" : url.slice(start + path.length));
  // The Fetch standard makes no request with CONNECT or TRACE; no method that changes something is served.
  const isOther = method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
  const routableMethod = method === "HEAD" ? "GET" : isOther ? "POST" : method;
  return new Request(routableUrl, { method: routableMethod, headers });
}
