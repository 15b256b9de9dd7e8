/** The content of a response: a body with its type, its validator, its encoded copies, and who may store it. */
import { hash } from "../files/bytes.ts";

export type Coding = "gzip" | "identity";
export type Body = string | Uint8Array<ArrayBuffer>;

/**
 * With `--cache-max-age`, any cache may reuse `public`, and only the client's own `private`. That of
 * the client may always reuse `search` for a minute, because loading it again, as with Back, would
 * count as another search.
 */
export type CachePolicy = Exclude<Storage, "none">;

/** `none` is what nobody may store. */
export const storages = ["public", "private", "search", "immutable", "none"] as const;
export type Storage = (typeof storages)[number];

interface ContentOptions {
  status?: number;
  cache?: CachePolicy | undefined;
  headers?: Record<string, string>;
  /** The header `Retry-After`. */
  retryAfterSeconds?: number | undefined;
  /** The content coding of the body. A client that does not accept it gets the decoded body. */
  coding?: Coding;
  /** Whether many requests share this object. If so, the encoded forms of its body are kept. */
  isShared?: boolean;
}

export const JSON_TYPE = "application/json; charset=utf-8";

export class Content {
  readonly type: string;
  readonly body: Body | null;
  readonly options: ContentOptions;
  /** How caches may store the content. An error, or a response without a body, may not be stored. */
  readonly storage: Storage;
  #hash: string | undefined;
  #encoded: Partial<Record<Coding, Blob>> | undefined;

  constructor(type: string, body: Body | null, options: ContentOptions = {}) {
    this.type = type;
    this.body = body;
    this.options = options;
    const { status = 200, cache = "none" } = options;
    this.storage = status < 400 && body !== null ? cache : "none";
  }

  /** The strong ETag of the body in a coding. */
  etagIn(coding: Coding): string {
    this.#hash ??= hash("SHA1", this.body ?? "", "base64url");
    return `"${this.#hash}-${coding}"`;
  }

  /** The body in a coding. That of a shared content is kept as a Blob, which Bun never copies. */
  encode(coding: Coding): Body | Blob | null {
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

/** A tag, with the suffix that Apache, lighttpd and others insert when they compress a response. */
const TAG = /"([\x21\x23-\x7e\x80-\xff]*?)(?:--?gzip|;gzip)?"/g;

/** Whether If-None-Match has `etag`, weak or strong, or is `*`. A malformed tag matches nothing. */
export function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  return header.matchAll(TAG).some(([tag, opaque]) => tag === etag || `"${opaque}"` === etag);
}

/** By default, caches revalidate every time, so that a newly private profile disappears at once. */
export function cacheControlOf(storage: Storage, maxAgeSeconds: number): string {
  if (storage === "none") return "no-store";
  if (storage === "search") return "private, max-age=60";
  if (storage === "immutable") return "public, max-age=31536000, immutable";
  return maxAgeSeconds > 0 ? `${storage}, max-age=${maxAgeSeconds}` : "no-cache";
}
