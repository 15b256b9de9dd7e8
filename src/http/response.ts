/** Makes the response to every request: headers, ETag or 304, content coding and limit headers. */
import crypto from "node:crypto";
import zlib from "node:zlib";
import { apiVersion } from "../domain/version.ts";
import type { AppOptions } from "./app-options.ts";
import { limitHeaders, setRateLimitHeaders } from "./rate-limit.ts";
import { preferencesIn, withoutBase } from "./request.ts";
import type { RequestContext, RequestContexts } from "./request-context.ts";
import {
  allowHeaders,
  type Body,
  type CachePolicy,
  type Coding,
  Content,
  contentOf,
} from "./result.ts";

const exposed = ["ETag", "Retry-After", "X-API-Version", "X-Request-Id"];

/** Sent with every response. A page from any origin may read all of it. */
export const commonHeaders = {
  "X-API-Version": apiVersion,
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": [...exposed, ...Object.keys(limitHeaders)].join(", "),
};

/** The response to a preflight request, which browsers may cache for a day. */
export const preflight = new Content("", null, {
  status: 204,
  headers: {
    ...allowHeaders,
    "access-control-allow-methods": allowHeaders.Allow,
    "access-control-allow-headers": "*",
    "access-control-max-age": "86400",
  },
});

/** Plugins set `cache` with `derive` for all their routes. */
interface Handled {
  request: Request;
  responseValue: unknown;
  route?: string;
  cache?: CachePolicy;
}

export function createRespond(options: AppOptions, contexts: RequestContexts) {
  const { searchLimit, onResponse } = options;
  const maker = new ResponseMaker(options);

  // Without a call after an arrow or `return`: Elysia would await the handlers of all routes.
  return function respond({ request, responseValue, route, cache }: Handled) {
    // In a host app, Elysia first passes on the result of the host's own `onError`.
    if (responseValue === undefined) return undefined;
    const context = contexts.of(request);
    const { requestId, method, decision } = context;
    const isHead = method === "HEAD" && request.method === "GET";

    // Only a fault that closes the connection returns a `Response`, which is sent unchanged. For
    // HEAD, Bun would send its headers before closing the connection, so HEAD gets an error.
    const isAborting = responseValue instanceof Response && !isHead;
    const response = isAborting
      ? responseValue
      : maker.make(contentOf(responseValue, cache), context.headers, isHead);
    response.headers.set("x-request-id", requestId);
    setRateLimitHeaders(response, searchLimit, decision);

    if (onResponse) report(context, route, response.status);
    return response;
  };

  function report(context: RequestContext, route: string | undefined, status: number): void {
    const { requestId, method, decision, startMs } = context;
    const path = route?.endsWith("/*") ? undefined : route;
    try {
      onResponse?.({
        requestId,
        method,
        route: path && withoutBase(path, options.basePath).replace(/^\/api\//, "/"),
        status,
        search: decision && (decision.allowed ? "allowed" : "refused"),
        durationMs: performance.now() - startMs,
        client: () => contexts.clientOf(context).key,
      });
    } catch (error) {
      options.onBug(error, requestId);
    }
  }
}

/** Makes a `Response` of a `Content`. */
class ResponseMaker {
  readonly #compresses: boolean;
  readonly #allowsIndexing: boolean;
  readonly #prepared: Record<CachePolicy | "none", Headers>;

  constructor({ compress, page, cacheMaxAgeSeconds }: AppOptions) {
    this.#compresses = compress;
    this.#allowsIndexing = page?.allowIndexing === true;
    this.#prepared = prepareHeaders(cacheMaxAgeSeconds);
  }

  make(content: Content, requestHeaders: Headers, isHead: boolean): Response {
    const { type, body } = content;
    const { status = 200, cache, headers = {} } = content.options;
    const isStored = status < 400 && cache !== undefined && body !== null;
    // A PNG is compressed already.
    const isCompressible = isStored && this.#compresses && type !== "image/png";
    const coding = isCompressible ? codingFor(body, requestHeaders) : "identity";

    const etag = isStored ? etagOf(content, body, coding) : undefined;
    const isKnown = etag !== undefined && isNoneMatch(requestHeaders.get("if-none-match"), etag);
    const encoded = isKnown || body === null ? null : encode(content, body, coding);
    const response = new Response(isHead ? null : encoded, {
      status: isKnown ? 304 : status,
      headers: this.#prepared[isStored ? cache : "none"],
    });

    if (etag !== undefined) response.headers.set("etag", etag);
    if (encoded !== null) {
      response.headers.set("content-type", type);
      if (coding !== "identity") response.headers.set("content-encoding", coding);
      if (isHead) response.headers.set("content-length", String(lengthOf(encoded)));
    }
    if (isStored && this.#allowsIndexing && type.startsWith("text/html"))
      response.headers.delete("x-robots-tag");
    for (const name in headers) response.headers.set(name, headers[name] ?? "");
    return response;
  }
}

function lengthOf(encoded: Body | Blob): number {
  return encoded instanceof Blob ? encoded.size : Buffer.byteLength(encoded);
}

/** By default, caches revalidate every time, so that a newly private profile disappears at once. */
function prepareHeaders(maxAgeSeconds: number): Record<CachePolicy | "none", Headers> {
  const prepare = (control: string, more = {}) =>
    new Headers({ ...commonHeaders, "cache-control": control, ...more });
  const vary = { vary: "accept-encoding" };
  const reusable = (scope: string) =>
    prepare(maxAgeSeconds > 0 ? `${scope}, max-age=${maxAgeSeconds}` : "no-cache", vary);
  return {
    public: reusable("public"),
    private: reusable("private"),
    immutable: prepare("public, max-age=31536000, immutable", vary),
    none: prepare("no-store"),
  };
}

/** Compression would save little of a shorter body. */
const MIN_COMPRESSED_BYTES = 1024;

/** Chooses by Accept-Encoding. Only gzip, because most bodies are too short to gain from another. */
export function codingFor(body: Body, headers: Headers): Coding {
  if (!headers.has("accept-encoding") || Buffer.byteLength(body) <= MIN_COMPRESSED_BYTES)
    return "identity";
  const preferences = preferencesIn(headers, "accept-encoding");
  return preferences.encoding(["gzip", "identity"]) === "gzip" ? "gzip" : "identity";
}

/** Encodes the body. A shared body is kept as a Blob, which Bun never copies. */
function encode(content: Content, body: Body, coding: Coding): Body | Blob {
  const { coding: stored = "identity", isShared } = content.options;
  const recode = () => {
    if (coding === stored) return body;
    return coding === "gzip" ? zlib.gzipSync(body, { level: 4 }) : zlib.gunzipSync(body);
  };
  if (!isShared) return recode();
  content.shared ??= {};
  content.shared[coding] ??= new Blob([recode()]);
  return content.shared[coding];
}

function etagOf(content: Content, body: Body, coding: Coding): string {
  content.hash ??= crypto.hash("sha1", body, "base64url");
  return `"${content.hash}-${coding}"`;
}

/** Whether If-None-Match has `etag`, weak or strong, or is `*`. A malformed tag matches nothing. */
function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false;
  const tags: string[] = header.match(/"[\x21\x23-\x7e\x80-\xff]*"/g) ?? [];
  return header.trim() === "*" || tags.includes(etag);
}
