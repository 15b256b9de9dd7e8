/** Reads what clients send, from the raw text: nothing is coerced, and what is odd is refused. */

import { collapseSpaces } from "../search/fold.ts";
import { hasCodePoints } from "../search/rank.ts";

const MIN_QUERY_CODE_POINTS = 2;

/** A decimal integer from 1 to 2^53−1 without sign, leading zero, exponent or fraction. */
export function parseUserId(text: string): number | undefined {
  if (!/^[1-9]\d{0,15}$/.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}

/**
 * The value of `q` in the URL in NFC with white space collapsed and trimmed, or undefined: it must
 * come once, be UTF-8 and have 2 characters then.
 */
export function parseQuery(url: string): string | undefined {
  const start = url.indexOf("?");
  if (start < 0) return undefined;
  const end = url.indexOf("#", start);
  let query: string | undefined;
  for (const pair of url.slice(start + 1, end < 0 ? undefined : end).split("&")) {
    const equals = pair.indexOf("=");
    const key = equals < 0 ? pair : pair.slice(0, equals);
    if (decode(key) !== "q") continue;
    const value = decode(equals < 0 ? "" : pair.slice(equals + 1));
    if (query !== undefined || value === undefined) return undefined;
    query = value;
  }
  if (query === undefined) return undefined;
  const shown = collapseSpaces(query.normalize("NFC"));
  return hasCodePoints(shown, MIN_QUERY_CODE_POINTS) ? shown : undefined;
}

/** What may stand for a request in a log and in a header: printable ASCII without spaces or quotes. */
export function isRequestId(text: string): boolean {
  return /^[\w.~+/=:@-]{1,128}$/.test(text);
}

/** Where the path begins; `url` may have no scheme and host. */
export function pathStart(url: string): number {
  return url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
}

/** The path as it stands in the request, still encoded. */
export function pathOf(url: string): string {
  const start = pathStart(url);
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query);
}

/** Undefined for what is not the percent-encoding of UTF-8. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
