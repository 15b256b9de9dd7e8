/**
 * Makes the response to every request: headers, ETag or 304, content coding, rate-limit headers,
 * and the report for the log and the metrics.
 */
import crypto from "node:crypto";
import { apiVersion } from "../domain/version.ts";
import { type Body, type Coding, codingFor, recode } from "./compression.ts";
import { type SearchLimit, setRateLimitHeaders } from "./rate-limit.ts";
import type { RequestContext, RequestContexts, ResponseFacts } from "./request-context.ts";
import { type CachePolicy, Content, contentOf, failWithHeaders } from "./result.ts";

export const ALLOWED_METHODS = "GET, HEAD, OPTIONS";

/** Sent with every response. A page from any origin may read every response and its headers. */
export const commonHeaders = {
  "x-api-version": apiVersion,
  // Stops browsers from guessing the content type.
  "x-content-type-options": "nosniff",
  // Stops search engines from listing personal data.
  "x-robots-tag": "noindex",
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "ETag, RateLimit, RateLimit-Policy, Retry-After, X-API-Version, X-RateLimit-Limit, " +
    "X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id",
};

/** Sent in response to a preflight request. Browsers may cache the response for a day. */
export const preflightHeaders = {
  allow: ALLOWED_METHODS,
  "access-control-allow-methods": ALLOWED_METHODS,
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

export const preflight = new Content("", null, { status: 204, headers: preflightHeaders });
export const methodNotAllowed = failWithHeaders("method_not_allowed", { allow: ALLOWED_METHODS });

export interface ResponseOptions {
  /** How long a cache may reuse an API response without revalidation; 0 means always revalidate. */
  cacheMaxAgeSeconds: number;
  /** Whether bodies are compressed for clients that accept compression. */
  compress: boolean;
  page: { allowIndexing?: boolean | undefined } | undefined;
  basePath: string;
  searchLimit: SearchLimit | undefined;
  /** Receives every bug that caused a 500, and every error that `onResponse` throws. */
  onBug(error: unknown, requestId: string): void;
  /** Receives the facts about every response before the body is sent. */
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
}

/** The parts of Elysia's context from which a response is made. */
interface Handled {
  request: Request;
  /** The result of a handler, of a hook or of the error handler. */
  responseValue: unknown;
  /** The path template. Undefined for an unknown path. */
  route?: string;
  /** Set by `derive` for all routes of a plugin. */
  cache?: CachePolicy;
}

export function createRespond(options: ResponseOptions, contexts: RequestContexts) {
  const { searchLimit, compress } = options;
  const isIndexed = options.page?.allowIndexing ?? false;
  const prepared = prepareHeaders(options.cacheMaxAgeSeconds);

  // Elysia awaits a hook if its source contains `return` or an arrow, followed by a call. So this
  // function calls others only to assign their results, which saves a microsecond per request.
  return function respond({ request, responseValue, route, cache }: Handled): Response {
    const context = contexts.of(request);
    const isHead = context.method === "HEAD" && request.method === "GET";
    // Only a fault that closes the connection returns a `Response`, which is sent unchanged. For
    // HEAD, Bun would send its headers before closing the connection, so HEAD gets an error.
    const isAborting = responseValue instanceof Response && !isHead;
    const response = isAborting
      ? responseValue
      : make(request.headers, contentOf(responseValue, cache), isHead);
    response.headers.set("x-request-id", context.requestId);
    if (searchLimit && context.decision)
      setRateLimitHeaders(response, searchLimit, context.decision);
    report(request, context, route, response.status);
    return response;
  };

  function make(requestHeaders: Headers, content: Content, isHead: boolean): Response {
    const { type, body, headers } = content;
    const cache = content.status < 400 ? content.cache : undefined;
    let { status } = content;
    let encoded: Body | Blob | null = body;
    let coding: Coding = "identity";
    let etag: string | undefined;
    if (cache && body !== null) {
      coding = codingFor(body, compress ? requestHeaders.get("accept-encoding") : null);
      etag = etagOf(content, body, coding);
      const isKnown = isNoneMatch(requestHeaders.get("if-none-match"), etag);
      if (isKnown) status = 304;
      encoded = isKnown ? null : encode(content, body, coding);
    }
    const init = { status, headers: prepared[cache ?? "none"] };
    const response = new Response(isHead ? null : encoded, init);
    if (etag !== undefined) response.headers.set("etag", etag);
    if (encoded !== null) {
      response.headers.set("content-type", type);
      if (coding !== "identity") response.headers.set("content-encoding", coding);
      if (isHead) response.headers.set("content-length", String(lengthOf(encoded)));
    }
    if (isIndexed && status < 400 && type.startsWith("text/html"))
      response.headers.delete("x-robots-tag");
    for (const name in headers) response.headers.set(name, headers[name] ?? "");
    return response;
  }

  function report(
    request: Request,
    context: RequestContext,
    route: string | undefined,
    status: number,
  ): void {
    const { requestId, isSubrequest, method, decision, startMs } = context;
    try {
      options.onResponse?.({
        requestId,
        isSubrequest,
        method,
        route: route && templateOf(route, options.basePath),
        status,
        search: decision && (decision.allowed ? "allowed" : "refused"),
        durationMs: performance.now() - startMs,
        client: () => contexts.clientOf(request, context),
      });
    } catch (error) {
      reportBug(options, error, requestId);
    }
  }
}

export function reportBug(
  { onBug }: Pick<ResponseOptions, "onBug">,
  error: unknown,
  requestId: string,
): void {
  try {
    onBug(error, requestId);
  } catch {
    // The error cannot be reported anywhere else, and the client must still get a response.
  }
}

/**
 * Returns the headers for each policy (RFC 9111). By default, a cache must revalidate every time,
 * so that a profile disappears as soon as it becomes private. Copying prepared `Headers` is faster
 * than passing a plain object to each `Response`.
 */
function prepareHeaders(maxAgeSeconds: number): Record<CachePolicy | "none", Headers> {
  const prepare = (control: string, more = {}) =>
    new Headers({ ...commonHeaders, "cache-control": control, ...more });
  const vary = { vary: "accept-encoding" };
  const control = (scope: string) =>
    maxAgeSeconds > 0 ? `${scope}, max-age=${maxAgeSeconds}` : "no-cache";
  return {
    public: prepare(control("public"), vary),
    private: prepare(control("private"), vary),
    immutable: prepare("public, max-age=31536000, immutable", vary),
    none: prepare("no-store"),
  };
}

/** Encodes the body. A shared body is kept as a Blob, which Bun never copies. */
function encode({ coding: stored, shared }: Content, body: Body, coding: Coding): Body | Blob {
  const known = shared?.[coding];
  if (known) return known;
  const encoded = coding === stored ? body : recode[coding](body);
  if (!shared) return encoded;
  const blob = new Blob([encoded]);
  shared[coding] = blob;
  return blob;
}

function lengthOf(body: Body | Blob): number {
  return body instanceof Blob ? body.size : Buffer.byteLength(body);
}

/**
 * A strong validator for the body in one content coding, because each coding is a separate
 * representation. SHA-1 also works in Node. The faster `Bun.hash` would save only 0.3 µs.
 */
function etagOf(content: Content, body: Body, coding: Coding): string {
  content.hash ??= crypto.hash("sha1", body, "base64url");
  return `"${content.hash}-${coding}"`;
}

/**
 * Whether If-None-Match matches `etag`. The header is `*` or a list of weak or strong tags, which
 * are compared weakly. A malformed tag matches nothing.
 */
function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  for (const [tag] of header.matchAll(/"[\x21\x23-\x7e\x80-\xff]*"/g))
    if (tag === etag) return true;
  return false;
}

/** Strips the base path and the /api prefix from a route. */
function templateOf(route: string, basePath: string): string {
  const own = route.startsWith(`${basePath}/`) ? route.slice(basePath.length) : route;
  return own.startsWith("/api/") ? own.slice("/api".length) : own;
}
