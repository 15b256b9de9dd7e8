/** Makes the response to every request: headers, ETag or 304, content coding and limit headers. */
import crypto from "node:crypto";
import { apiVersion } from "../domain/version.ts";
import { type Body, type Coding, codingFor, recode } from "./compression.ts";
import { type SearchLimit, setRateLimitHeaders } from "./rate-limit.ts";
import type { RequestContexts, ResponseFacts } from "./request-context.ts";
import { type CachePolicy, Content, contentOf, fail, JSON_TYPE } from "./result.ts";

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
const notAllowed = JSON.stringify(fail("method_not_allowed").response);
export const methodNotAllowed = new Content(JSON_TYPE, notAllowed, {
  status: 405,
  headers: { allow: ALLOWED_METHODS },
});

export interface ResponseOptions {
  /** How long a cache may reuse a response without revalidation; 0 means always revalidate. */
  cacheMaxAgeSeconds: number;
  /** Whether bodies are compressed for clients that accept compression. */
  compress: boolean;
  page: { allowIndexing?: boolean | undefined } | undefined;
  searchLimit: SearchLimit | undefined;
  /** Receives the facts about every response before the body is sent. */
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
}

/** The context of a response. Plugins set `cache` with `derive` for all their routes. */
interface Handled {
  request: Request;
  responseValue: unknown;
  route?: string;
  cache?: CachePolicy;
}

export function createRespond(
  options: ResponseOptions,
  contexts: RequestContexts,
  reportBug: (error: unknown, requestId: string) => void,
) {
  const { searchLimit, compress, page, onResponse } = options;
  const prepared = prepareHeaders(options.cacheMaxAgeSeconds);

  // Elysia awaits a hook whose source has a call right after `return` or an arrow. This one has
  // none, which saves a microsecond per request.
  return function respond({ request, responseValue, route, cache }: Handled) {
    // In a host app, Elysia first passes on what the host's own `onError` has returned.
    if (responseValue === undefined) return undefined;
    const context = contexts.of(request);
    const { requestId, decision } = context;
    const isHead = context.method === "HEAD" && request.method === "GET";
    // Only a fault that closes the connection returns a `Response`, which is sent unchanged. For
    // HEAD, Bun would send its headers before closing the connection, so HEAD gets an error.
    const isAborting = responseValue instanceof Response && !isHead;
    const response = isAborting
      ? responseValue
      : make(contentOf(responseValue, cache), request.headers, isHead);
    response.headers.set("x-request-id", requestId);
    if (searchLimit && decision) setRateLimitHeaders(response, searchLimit, decision);
    try {
      onResponse?.(contexts.factsOf(context, request, route, response.status));
    } catch (error) {
      reportBug(error, requestId);
    }
    return response;
  };

  function make(content: Content, requestHeaders: Headers, isHead: boolean): Response {
    const { type, body } = content;
    const { status = 200, cache, headers } = content.options;
    const isStored = status < 400 && cache !== undefined && body !== null;
    const accepted = isStored && compress ? requestHeaders.get("accept-encoding") : null;
    const coding = isStored ? codingFor(body, accepted) : "identity";
    const etag = isStored ? etagOf(content, body, coding) : undefined;
    const isKnown = etag !== undefined && isNoneMatch(requestHeaders.get("if-none-match"), etag);
    const encoded = isKnown || body === null ? null : encode(content, body, coding);
    const response = new Response(isHead ? null : encoded, {
      status: isKnown ? 304 : status,
      headers: prepared[isStored ? cache : "none"],
    });
    if (etag !== undefined) response.headers.set("etag", etag);
    if (encoded !== null) {
      response.headers.set("content-type", type);
      if (coding !== "identity") response.headers.set("content-encoding", coding);
      if (isHead) response.headers.set("content-length", String(lengthOf(encoded)));
    }
    if (isStored && page?.allowIndexing && type.startsWith("text/html"))
      response.headers.delete("x-robots-tag");
    for (const name in headers) response.headers.set(name, headers[name] ?? "");
    return response;
  }
}

function lengthOf(body: Body | Blob): number {
  return body instanceof Blob ? body.size : Buffer.byteLength(body);
}

/**
 * Returns the headers for each policy. By default, a cache must revalidate every time, so that a
 * profile disappears as soon as it becomes private. Copying `Headers` is faster than an object.
 */
function prepareHeaders(maxAgeSeconds: number): Record<CachePolicy | "none", Headers> {
  const prepare = (control: string, more = {}) =>
    new Headers({ ...commonHeaders, "cache-control": control, ...more });
  const age = maxAgeSeconds > 0 ? `max-age=${maxAgeSeconds}` : undefined;
  const vary = { vary: "accept-encoding" };
  return {
    public: prepare(age ? `public, ${age}` : "no-cache", vary),
    private: prepare(age ? `private, ${age}` : "no-cache", vary),
    immutable: prepare("public, max-age=31536000, immutable", vary),
    none: prepare("no-store"),
  };
}

/** Encodes the body. A shared body is kept as a Blob, which Bun never copies. */
function encode(content: Content, body: Body, coding: Coding): Body | Blob {
  const { coding: stored = "identity", isShared } = content.options;
  if (!isShared) return coding === stored ? body : recode[coding](body);
  content.shared ??= {};
  content.shared[coding] ??= new Blob([coding === stored ? body : recode[coding](body)]);
  return content.shared[coding];
}

/** A strong validator for the body in one content coding (RFC 9110, 8.8.3). */
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
  const tags: string[] = header.match(/"[\x21\x23-\x7e\x80-\xff]*"/g) ?? [];
  return header.trim() === "*" || tags.includes(etag);
}
