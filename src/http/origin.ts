/** The origin of a request: that of its URL, or the one that a trusted proxy forwards. */
import { LRUCache } from "lru-cache";
import { LOCAL_ORIGIN, pathStart } from "./url.ts";

/** Parsing a URL takes longer than reading a profile, and most requests are for the same host. */
const origins = new LRUCache<string, string>({
  max: 100,
  memoMethod(url) {
    const origin = URL.parse(url)?.origin;
    // The origin of a URL with an unknown scheme is the text "null".
    return origin?.startsWith("http") ? origin : LOCAL_ORIGIN;
  },
});

interface Sent {
  url: string;
  headers: Headers;
  /** Whether the peer is a trusted proxy. */
  isTrusted: boolean;
}

export function originOf({ url, headers, isTrusted }: Sent): string {
  return isTrusted ? forwardedOriginOf(url, headers) : ownOriginOf(url);
}

function ownOriginOf(url: string): string {
  const start = pathStart(url);
  return origins.memo(start < 0 ? url : url.slice(0, start));
}

/** The origin in X-Forwarded-Proto and -Host. Ignores malformed values. */
function forwardedOriginOf(url: string, headers: Headers): string {
  const [, ownScheme = "http", ownHost = "localhost"] = /^(https?):\/\/([^/]*)/.exec(url) ?? [];
  // The rightmost value of each list counts.
  const proto = /(?:^|,)\s*(https?)\s*$/i.exec(headers.get("x-forwarded-proto") ?? "")?.[1];
  const host = /(?:^|,)\s*([\w.:[\]-]+)\s*$/.exec(headers.get("x-forwarded-host") ?? "")?.[1];
  const scheme = proto ?? ownScheme;
  // Not every value of this form is a host, such as one with the port 99999.
  const forwarded = host === undefined ? null : URL.parse(`${scheme}://${host}/`);
  return forwarded?.origin ?? ownOriginOf(`${scheme}://${ownHost}/`);
}
