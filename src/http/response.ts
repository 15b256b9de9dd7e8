/**
 * Makes the response to every request: headers, ETag or 304, content coding and limit headers. Then
 * reports it for logs and metrics, which get no path, because that may identify a person.
 */
import { ElysiaCustomStatusResponse } from "elysia";
import { apiVersion } from "../domain/version.ts";
import type { AppOptions } from "./app-options.ts";
import { type Cache, Content, cacheControlOf, JSON_TYPE } from "./content.ts";
import { isDropped, loggedStatusOf } from "./dropped-connection.ts";
import { type Endpoint, endpointOf } from "./endpoints.ts";
import { errorContent, fail } from "./errors.ts";
import { limitHeaders, limitHeadersOf } from "./rate-limit.ts";
import type { RequestContext, RequestContexts } from "./request-context.ts";
import { withoutBase } from "./url.ts";

const exposed = ["ETag", "Retry-After", "X-API-Version", "X-Request-Id"];

/**
 * Sent with every response, except that an indexable one has no X-Robots-Tag. A page from any origin
 * may read all of it.
 */
export const commonHeaders = {
  "X-API-Version": apiVersion,
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": [...exposed, ...Object.keys(limitHeaders)].join(", "),
};

interface Handled {
  request: Request;
  responseValue: unknown;
  route?: string;
}

export function createRespond(options: AppOptions, contexts: RequestContexts) {
  const { onResponse, onBug, basePath, limiter } = options;
  const prepared: Record<Cache, Headers> = {
    public: headersOf("public", options),
    private: headersOf("private", options),
    search: headersOf("search", options),
    immutable: headersOf("immutable", options),
    none: headersOf("none", options),
  };

  function respond(handled: Handled & { responseValue: object }): Response;
  function respond(handled: Handled): Response | undefined;
  function respond({ request, responseValue, route }: Handled) {
    // In a host app, this may be the result of the host's own `onError`.
    if (responseValue === undefined) return undefined;

    const context = contexts.of(request);
    const endpoint = endpointOf(route);
    const isHead = context.request.method === "HEAD" && request.method === "GET";
    // For HEAD, Bun would send the headers of a response whose body fails, so HEAD gets an error.
    const result = isHead && isDropped(responseValue) ? fail("internal_error") : responseValue;
    // A response is that of a dropped connection or from the `onError` of a host app.
    const response =
      result instanceof Response
        ? result
        : makeResponse(contentOf(result, endpoint), context, isHead);

    if (onResponse)
      report(context, endpoint?.path ?? labelOf(route, basePath), loggedStatusOf(response));
    return response;
  }

  function makeResponse(content: Content, context: RequestContext, isHead: boolean): Response {
    const { headers: sent } = context.request;
    const { status = 200, headers: own, retryAfterSeconds, isIndexable } = content.options;
    // A proxy may pass on a forged host, which must not be in links that others get.
    const mayBeForged =
      context.isTrusted && options.publicUrl === undefined && sent.has("x-forwarded-host");
    const cache = content.cache === "public" && mayBeForged ? "private" : content.cache;
    const { coding, body, etag, isKnown } = content.encodeFor(sent, options.compress);

    const response = new Response(isHead ? null : body, {
      status: isKnown ? 304 : status,
      headers: prepared[cache],
    });
    const { headers } = response;
    if (etag !== undefined) headers.set("etag", etag);
    if (body !== null) {
      headers.set("content-type", content.type);
      if (coding !== "identity") headers.set("content-encoding", coding);
      if (isHead) headers.set("content-length", String(new Blob([body]).size));
    }
    if (isIndexable) headers.delete("x-robots-tag");

    // These differ between requests for the same content.
    headers.set("x-request-id", context.requestId);
    if (limiter && context.decision) {
      setAll(headers, limitHeadersOf(limiter.policy, context.decision, options.unixClock()));
    }
    if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
    // Last, because those of an injected 429 replace the limit's own.
    if (own) setAll(headers, own);
    return response;
  }

  function report(context: RequestContext, route: string | undefined, status: number): void {
    const { request, requestId, decision, startMs } = context;
    try {
      const reported: unknown = onResponse?.({
        requestId,
        method: request.method,
        route,
        status,
        search: decision && (decision.allowed ? "allowed" : "refused"),
        durationMs: performance.now() - startMs,
        client: () => contexts.clientOf(context).key,
      });
      // A program may give an async function.
      if (reported instanceof Promise) reported.catch((error) => onBug(error, requestId));
    } catch (error) {
      onBug(error, requestId);
    }
  }

  return respond;
}

/** The headers of all responses that may be stored in the same way. */
function headersOf(cache: Cache, { cacheMaxAge, isHttpsOnly }: AppOptions): Headers {
  const cacheControl = cacheControlOf(cache, Math.floor(cacheMaxAge / 1000));
  const headers = new Headers({ ...commonHeaders, "cache-control": cacheControl });
  if (cache !== "none") headers.set("vary", "accept-encoding");
  if (isHttpsOnly) headers.set("strict-transport-security", "max-age=31536000");
  return headers;
}

function setAll(headers: Headers, values: Record<string, string>): void {
  for (const name in values) headers.set(name, values[name] ?? "");
}

/** The content of any result. The endpoint says who may store a plain object. */
export function contentOf(value: unknown, { cache }: Partial<Endpoint> = {}): Content {
  if (value instanceof Content) return value;
  if (value instanceof ElysiaCustomStatusResponse) return errorContent(value);
  return new Content(JSON_TYPE, JSON.stringify(value), { cache });
}

/** Returns the route of a page as metrics name it: without the base path. */
function labelOf(route: string | undefined, basePath: string): string | undefined {
  // A wildcard stands for all paths that are unknown.
  if (route === undefined || route.endsWith("/*")) return undefined;
  return withoutBase(route, basePath);
}
