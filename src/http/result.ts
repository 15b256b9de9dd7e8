/**
 * What handlers return, before it is a `Response`: a plain object for JSON, `status(…)` of Elysia for
 * an error, or {@link Content} for a body that is finished already. response.ts sends all three.
 */
import { status } from "elysia";
import { type ErrorCode, errors } from "../domain/error.ts";
import type { CachePolicy } from "./caching.ts";
import type { Body, Coding } from "./compression.ts";

interface ContentOptions {
  status?: number;
  /** For a 200; other statuses are stored nowhere. Default none. */
  cache?: CachePolicy;
  headers?: Record<string, string>;
  /** The content coding that the body has already; a client that does not accept it gets it decoded. */
  coding?: "gzip";
  /** The same object is the response to many requests: what is made of its body is kept. */
  isShared?: boolean;
}

/** A finished body with its content type. */
export class Content {
  readonly status: number;
  readonly cache: CachePolicy;
  readonly type: string;
  readonly body: Body | null;
  readonly headers: Record<string, string>;
  readonly coding: "gzip" | undefined;
  /** The codings of a shared body, each made when it is first needed. */
  readonly shared: Partial<Record<Coding, Blob>> | undefined;
  /** The ETag's part of the body, made when it is first needed. */
  hash: string | undefined;

  constructor(type: string, body: Body | null, options: ContentOptions = {}) {
    this.status = options.status ?? 200;
    this.cache = options.cache ?? "none";
    this.type = type;
    this.body = body;
    this.headers = options.headers ?? {};
    this.coding = options.coding;
    this.shared = options.isShared ? {} : undefined;
  }
}

export const JSON_TYPE = "application/json; charset=utf-8";

/** JSON that is text already, typed as the body that it is, so that Eden knows it. */
export function finishedJson<Value>(text: Body, cache: CachePolicy): Value {
  return new Content(JSON_TYPE, text, { cache }) as Value;
}

/** An error with headers of its own. */
export function failWithHeaders(
  code: ErrorCode,
  headers: Record<string, string>,
  { status = errors[code].status, ...details }: { status?: number; retry_after?: number } = {},
): Content {
  const { response } = fail(code, details);
  return new Content(JSON_TYPE, JSON.stringify(response), { status, headers });
}

/** The status and body of an error, with more fields of the error object where it has any. */
export function fail<Code extends ErrorCode>(
  code: Code,
  details: { retry_after?: number; message?: string } = {},
) {
  const { status: number, message } = errors[code];
  return status(number, { success: false as const, error: { code, message, ...details } });
}
