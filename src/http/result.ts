/**
 * The values that handlers return: a plain object for JSON, Elysia's `status(…)` for an error, or
 * {@link Content} for a body that is already serialized. response.ts turns each into a `Response`.
 */
import { status } from "elysia";
import { type ErrorCode, errors } from "../domain/error.ts";
import type { CachePolicy } from "./caching.ts";
import type { Body, Coding } from "./compression.ts";

interface ContentOptions {
  status?: number;
  /** Applies only below status 400, because errors must not be stored. Defaults to `none`. */
  cache?: CachePolicy;
  headers?: Record<string, string>;
  /** The content coding of `body`. A client that does not accept it gets the decoded body. */
  coding?: "gzip";
  /** Whether many requests share this object. If so, the encoded forms of its body are kept. */
  isShared?: boolean;
}

/** A serialized body with its content type. */
export class Content {
  readonly status: number;
  readonly cache: CachePolicy;
  readonly type: string;
  readonly body: Body | null;
  readonly headers: Record<string, string>;
  readonly coding: "gzip" | undefined;
  /** The encoded forms of a shared body, each created when it is first needed. */
  readonly shared: Partial<Record<Coding, Blob>> | undefined;
  /** The hash of the body, used in the ETag and computed when first needed. */
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

/** Wraps serialized JSON. The return type is the value's type, so that Eden knows the fields. */
export function serializedJson<Value>(text: Body, cache: CachePolicy): Value {
  return new Content(JSON_TYPE, text, { cache }) as Value;
}

/** An error with additional headers. */
export function failWithHeaders(
  code: ErrorCode,
  headers: Record<string, string>,
  { status = errors[code].status, ...details }: { status?: number; retry_after?: number } = {},
): Content {
  const { response } = fail(code, details);
  return new Content(JSON_TYPE, JSON.stringify(response), { status, headers });
}

/** The status and body of an error. `details` adds or replaces fields of the error object. */
export function fail<Code extends ErrorCode>(
  code: Code,
  details: { retry_after?: number; message?: string } = {},
) {
  const { status: number, message } = errors[code];
  return status(number, errorBody(code, message, details));
}

/** The body of every error. */
export function errorBody<Code extends string, Details extends object = object>(
  code: Code,
  message: string,
  details?: Details,
) {
  return { success: false as const, error: { code, message, ...details } };
}
