/**
 * Turns a handler's result into a `Response` with headers, validator and content coding. This
 * module knows nothing about routes or limits.
 */
import crypto from "node:crypto";
import { ElysiaCustomStatusResponse } from "elysia";
import { apiVersion } from "../domain/version.ts";
import { type CachePolicy, cacheHeaders, hasValidator } from "./caching.ts";
import { type Body, type Coding, codingFor, compress, decompress } from "./compression.ts";
import { corsHeaders } from "./cors.ts";
import { Content, fail, JSON_TYPE } from "./result.ts";
import { noIndexHeader, securityHeaders } from "./security-headers.ts";

/** The policies for pages and their assets. The API never uses these policies. */
const pagePolicies: readonly CachePolicy[] = ["page", "immutable", "hour"];

/**
 * `maxAgeSeconds` is how long a cache may reuse an API response without revalidating it,
 * `isIndexed` is whether search engines may list the pages, and `compresses` is whether bodies are
 * compressed.
 */
export function createRespond(maxAgeSeconds: number, isIndexed: boolean, compresses: boolean) {
  const prepare = (policy: CachePolicy) =>
    new Headers({
      "x-api-version": apiVersion,
      ...securityHeaders,
      ...corsHeaders,
      ...cacheHeaders(policy, maxAgeSeconds),
      ...(!(isIndexed && pagePolicies.includes(policy)) && noIndexHeader),
    });
  // Copying prepared `Headers` is faster than passing a plain object to each `Response`.
  const prepared: Record<CachePolicy, Headers> = {
    public: prepare("public"),
    private: prepare("private"),
    page: prepare("page"),
    immutable: prepare("immutable"),
    hour: prepare("hour"),
    none: prepare("none"),
  };

  /**
   * `value` is the result of a handler, a hook or the error handler. If `isHead` is set, the
   * response is sent without its body.
   */
  return (request: Request, value: unknown, isHead: boolean): Response => {
    const content = toContent(value);
    const cache = content.status < 400 ? content.cache : "none";
    const isValidated = content.status === 200 && content.body !== null && hasValidator(cache);
    const { status, body, headers } = isValidated
      ? represent(content, content.body, request.headers, compresses)
      : content;
    const response = new Response(isHead ? null : body, { status, headers: prepared[cache] });
    if (body !== null) {
      response.headers.set("content-type", content.type);
      if (isHead) response.headers.set("content-length", String(lengthOf(body)));
    }
    for (const name in headers) response.headers.set(name, headers[name] ?? "");
    return response;
  };
}

/** A plain object becomes a JSON success response, and `status(…)` becomes a JSON error. */
function toContent(value: unknown): Content {
  if (value instanceof Content) return value;
  if (value instanceof Response) return toContent(fail("internal_error"));
  const isStatus = value instanceof ElysiaCustomStatusResponse;
  const body = JSON.stringify(isStatus ? value.response : value);
  return new Content(JSON_TYPE, body, { status: isStatus ? Number(value.code) : 200 });
}

interface Representation {
  status: number;
  body: Body | Blob | null;
  headers: Record<string, string>;
}

/**
 * Builds a 200 in a coding that the client accepts, or a 304 if the client already has the body.
 */
function represent(
  content: Content,
  body: Body,
  requestHeaders: Headers,
  compresses: boolean,
): Representation {
  const accepted = compresses ? requestHeaders.get("accept-encoding") : null;
  const coding = codingFor(body, content.coding, accepted);
  const etag = etagOf(content, coding);
  const headers = { ...content.headers, etag };
  if (isNoneMatch(requestHeaders.get("if-none-match"), etag))
    return { status: 304, body: null, headers };
  const encoded = encode(content, body, coding);
  if (coding === "identity") return { status: 200, body: encoded, headers };
  return { status: 200, body: encoded, headers: { ...headers, "content-encoding": coding } };
}

/**
 * Encodes the body. A shared body is encoded only once and kept as a Blob, which Bun never copies.
 */
function encode(content: Content, body: Body, coding: Coding): Body | Blob {
  const { coding: stored, shared } = content;
  const known = shared?.[coding];
  if (known) return known;
  let encoded = body;
  if (coding !== "identity" && !stored) encoded = compress[coding](Buffer.from(body));
  if (coding === "identity" && stored) encoded = decompress(body);
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
 * representation. SHA-1 also works in Node. The faster `Bun.hash` would save only 0.5 µs of a
 * request's 25 µs.
 */
export function etagOf(content: Content, coding: Coding): string {
  content.hash ??= crypto.hash("sha1", content.body ?? "", "base64url");
  return `"${content.hash}-${coding}"`;
}

/**
 * Whether If-None-Match matches `etag`. The header is `*` or a list of weak or strong tags, which
 * are compared weakly. A malformed tag matches nothing.
 */
export function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  for (const [tag] of header.matchAll(/"[\x21\x23-\x7e\x80-\xff]*"/g))
    if (tag === etag) return true;
  return false;
}
