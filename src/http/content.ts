/** The content of a response: a body with its type, its ETag, its encoded copies, and who may store it. */
import Negotiator from "negotiator";
import { hash } from "../files/bytes.ts";

type Coding = "gzip" | "identity";
type Body = string | Uint8Array<ArrayBuffer>;

/**
 * How caches may store a response. With `--cache-max-age`, any cache may reuse `public`, and only the
 * client's own `private`. That of the client may always reuse `search` for a minute, because loading it
 * again, as with Back, would count as another search. Nobody may store `none`.
 */
export type Cache = "public" | "private" | "search" | "immutable" | "none";

/** Compression would save little of a shorter body. */
const MIN_COMPRESSED_BYTES = 1024;

/** Compressing a longer body would delay other requests. This takes up to 3 ms. */
const MAX_COMPRESSED_LENGTH = 500_000;

export interface ContentOptions {
  status?: number;
  cache?: Cache | undefined;
  headers?: Record<string, string>;
  /** The header `Retry-After`. */
  retryAfterSeconds?: number | undefined;
  /** The content coding of the body. A client that does not accept it gets the decoded body. */
  coding?: Coding;
  /** Whether many requests share this object. If so, the encoded forms of its body are kept. */
  isShared?: boolean;
  /** Whether search engines may list it. */
  isIndexable?: boolean | undefined;
}

export const JSON_TYPE = "application/json; charset=utf-8";

export class Content {
  readonly type: string;
  readonly body: Body | null;
  readonly options: ContentOptions;
  /** As in the options, but no cache may store an error, or a response without a body. */
  readonly cache: Cache;
  #hash: string | undefined;
  #encoded: Partial<Record<Coding, Blob>> | undefined;

  constructor(type: string, body: Body | null, options: ContentOptions = {}) {
    this.type = type;
    this.body = body;
    this.options = options;
    const { status = 200, cache = "none" } = options;
    this.cache = status < 400 && body !== null ? cache : "none";
  }

  /** Encodes the body as the client prefers. Returns null instead if the client has it already. */
  encodeFor(headers: Headers, mayCompress: boolean) {
    if (this.cache === "none") return { coding: "identity", body: this.#encode("identity") };

    const coding: Coding = mayCompress && this.#prefersGzip(headers) ? "gzip" : "identity";
    this.#hash ??= hash("SHA1", this.body ?? "", "base64url");
    const etag = `"${this.#hash}-${coding}"`;
    const isKnown = isNoneMatch(headers.get("if-none-match"), etag);
    return { coding, etag, isKnown, body: isKnown ? null : this.#encode(coding) };
  }

  /** Only gzip, because most bodies are too short to gain from another coding. */
  #prefersGzip(headers: Headers): boolean {
    if (!headers.has("accept-encoding") || this.body === null) return false;
    const isShort = Buffer.byteLength(this.body) <= MIN_COMPRESSED_BYTES;
    const isLong = this.body.length > MAX_COMPRESSED_LENGTH && this.options.coding !== "gzip";
    // A PNG is compressed already.
    if (isShort || isLong || this.type === "image/png") return false;

    const preferences = preferencesIn(headers, "accept-encoding");
    return preferences.encoding(["gzip", "identity"]) === "gzip";
  }

  /** The body of a shared content is kept as a Blob, which Bun never copies. */
  #encode(coding: Coding): Body | Blob | null {
    if (!this.options.isShared || this.body === null) return this.#recode(coding);
    this.#encoded ??= {};
    this.#encoded[coding] ??= new Blob([this.#recode(coding) ?? ""]);
    return this.#encoded[coding];
  }

  #recode(coding: Coding): Body | null {
    const { coding: stored = "identity" } = this.options;
    if (this.body === null || coding === stored) return this.body;
    const zlib = process.getBuiltinModule("node:zlib");
    return coding === "gzip" ? zlib.gzipSync(this.body, { level: 4 }) : zlib.gunzipSync(this.body);
  }
}

/**
 * The content of a JSON text. Its type is that of the body, because Elysia takes the type of a result for
 * the one that a typed client gets.
 */
export function jsonText<Body>(text: string, { cache }: ContentOptions): Body {
  return new Content(JSON_TYPE, text, { cache }) as Body;
}

/** Only from the start of the header. All of a 15 KB header would outlast most pages. */
export function preferencesIn(headers: Headers, name: string): Negotiator {
  return new Negotiator({ headers: { [name]: headers.get(name)?.slice(0, 1000) } });
}

/** A tag, with the suffix that Apache, lighttpd and others insert when they compress a response. */
const TAG = /"([\x21\x23-\x7e\x80-\xff]*?)(?:--?gzip|;gzip)?"/g;

/** Whether If-None-Match has `etag`, weak or strong, or is `*`. A malformed tag matches nothing. */
function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  return header.matchAll(TAG).some(([tag, opaque]) => tag === etag || `"${opaque}"` === etag);
}

/** By default, caches revalidate every time, so that a newly private profile disappears at once. */
export function cacheControlOf(cache: Cache, maxAgeSeconds: number): string {
  if (cache === "none") return "no-store";
  if (cache === "search") return "private, max-age=60";
  if (cache === "immutable") return "public, max-age=31536000, immutable";
  return maxAgeSeconds > 0 ? `${cache}, max-age=${maxAgeSeconds}` : "no-cache";
}
