/**
 * Makes the response to every request: headers, ETag or 304, content coding and limit headers. Then
 * reports it for logs and metrics, which get no path, because that may identify a person.
 */
import { ElysiaCustomStatusResponse } from "elysia";
import { apiVersion } from "../domain/constants.ts";
import type { AppOptions } from "./app-options.ts";
import {
  type Body,
  type CachePolicy,
  Content,
  cacheControlOf,
  isNoneMatch,
  JSON_TYPE,
  type Storage,
} from "./content.ts";
import { endpointOf } from "./endpoints.ts";
import type { ErrorBody } from "./error-codes.ts";
import { allowHeaders, DroppedConnection, fail } from "./errors.ts";
import { codingFor } from "./negotiate.ts";
import { limitHeaders } from "./rate-limit.ts";
import type { RequestContext, RequestContexts } from "./request-context.ts";
import { withoutBase } from "./url.ts";

const exposed = ["ETag", "Retry-After", "X-API-Version", "X-Request-Id"];

/** Sent with every response. A page from any origin may read all of it. */
export const commonHeaders = {
  "X-API-Version": apiVersion,
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": [...exposed, ...Object.keys(limitHeaders)].join(", "),
};

/** Plugins set `cache` with `derive` for all their routes. */
interface Handled {
  request: Request;
  responseValue: unknown;
  route?: string;
  cache?: CachePolicy;
}

export type Respond = ReturnType<typeof createRespond>;

export function createRespond(options: AppOptions, contexts: RequestContexts) {
  const { onResponse, onBug, basePath } = options;
  const make = createMaker(options);

  function respond(handled: Handled & { responseValue: object }): Response;
  function respond(handled: Handled): Response | undefined;
  function respond({ request, responseValue, route, cache }: Handled) {
    // Another handler responds. Or, in a host app, this is the result of the host's own `onError`.
    if (responseValue === undefined) return undefined;
    const context = contexts.of(request);
    const isHead = context.method === "HEAD" && request.method === "GET";

    const response = make(responseValue, cache, context, isHead);
    if (onResponse) report(context, route, response.status);
    return response;
  }

  function report(context: RequestContext, route: string | undefined, status: number): void {
    const { requestId, method, decision, startMs, isDropped } = context;
    try {
      const reported: unknown = onResponse?.({
        requestId,
        method,
        route: labelOf(route, basePath),
        status: isDropped ? 0 : status,
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

/** Returns what makes a `Response` of what a handler or a hook has returned. */
function createMaker(options: AppOptions) {
  /** The headers that all responses with the same storage have. */
  const prepared: Partial<Record<Storage, Headers>> = {};

  function makeFrom(content: Content, context: RequestContext, isHead: boolean): Response {
    const { type } = content;
    const isPrivate = content.storage === "public" && !context.isShareable;
    const storage = isPrivate ? "private" : content.storage;
    const { status, headers, retryAfterSeconds } = content.options;

    const isStored = storage !== "none";
    const coding = isStored && options.compress ? codingFor(content, context.headers) : "identity";
    const etag = isStored ? content.etagIn(coding) : undefined;
    const isKnown = etag !== undefined && isNoneMatch(context.headers.get("if-none-match"), etag);
    const body = isKnown ? null : content.encode(coding);

    prepared[storage] ??= prepareHeaders(storage, options);
    const response = new Response(isHead ? null : body, {
      status: isKnown ? 304 : (status ?? 200),
      headers: prepared[storage],
    });
    if (etag !== undefined) response.headers.set("etag", etag);
    if (body !== null) {
      response.headers.set("content-type", type);
      if (coding !== "identity") response.headers.set("content-encoding", coding);
      if (isHead) response.headers.set("content-length", String(lengthOf(body)));
    }
    if (options.pages?.allowIndexing && isStored && type.startsWith("text/html")) {
      response.headers.delete("x-robots-tag");
    }

    // These differ between requests for the same content.
    response.headers.set("x-request-id", context.requestId);
    setHeaders(response, context.limitHeaders);
    if (retryAfterSeconds !== undefined) {
      response.headers.set("retry-after", String(retryAfterSeconds));
    }
    // Last, because those of an injected 429 replace the limit's own.
    setHeaders(response, headers);
    return response;
  }

  /** Makes a server close the connection. For HEAD, Bun would send the headers, so HEAD gets an error. */
  function drop(context: RequestContext, isHead: boolean): Response {
    if (isHead) return makeFrom(contentOf(fail("internal_error")), context, isHead);
    context.isDropped = true;
    // The body fails immediately, without a reason, because Bun would print that.
    return new Response(new ReadableStream({ start: (stream) => stream.error() }));
  }

  return (
    value: unknown,
    cache: CachePolicy | undefined,
    context: RequestContext,
    isHead: boolean,
  ): Response => {
    // It comes from the `onError` of a host app, and stays as it is.
    if (value instanceof Response) return value;
    if (value instanceof DroppedConnection) return drop(context, isHead);
    return makeFrom(contentOf(value, cache), context, isHead);
  };
}

function setHeaders(response: Response, headers: Record<string, string> = {}): void {
  for (const name in headers) response.headers.set(name, headers[name] ?? "");
}

function lengthOf(body: Body | Blob): number {
  return body instanceof Blob ? body.size : Buffer.byteLength(body);
}

function prepareHeaders(storage: Storage, options: AppOptions): Headers {
  const cacheControl = cacheControlOf(storage, options.cacheMaxAgeSeconds);
  const headers = new Headers({ ...commonHeaders, "cache-control": cacheControl });
  if (storage !== "none") headers.set("vary", "accept-encoding");
  if (options.isHttpsOnly) headers.set("strict-transport-security", "max-age=31536000");
  return headers;
}

/** The content of any result but a dropped connection. `cache` applies to plain objects only. */
export function contentOf(value: unknown, cache?: CachePolicy): Content {
  if (value instanceof Content) return value;
  if (value instanceof ElysiaCustomStatusResponse) return contentOfError(value);
  return new Content(JSON_TYPE, JSON.stringify(value), { cache });
}

/** The error may also be one of the app that Roadbook is mounted in. */
function contentOfError({ code, response }: { code: unknown; response: unknown }): Content {
  const error = (response as Partial<ErrorBody> | undefined)?.error;
  return new Content(JSON_TYPE, JSON.stringify(response), {
    status: Number(code),
    headers: code === 405 ? allowHeaders : {},
    retryAfterSeconds: error?.retry_after,
  });
}

/** Returns a route as metrics name it: the path of an endpoint, or another without the base path. */
function labelOf(route: string | undefined, basePath: string): string | undefined {
  // A wildcard stands for all paths that are unknown.
  if (route === undefined || route.endsWith("/*")) return undefined;
  return endpointOf(route)?.path ?? withoutBase(route, basePath);
}
