/**
 * What handlers return: a plain object for JSON, {@link fail} for an error, or a {@link Content}
 * for any other type. response.ts turns each into a `Response`.
 */
import { ElysiaCustomStatusResponse, status } from "elysia";
import { type ErrorCode, errors } from "../domain/error.ts";
import type { Body, Coding } from "./compression.ts";

/**
 * - `public`: any cache may store the response.
 * - `private`: only the client's own cache may store the response.
 * - `immutable`: any cache may store the response permanently. New content gets a new URL.
 *
 * Responses with a policy have an ETag. Without a policy, no cache may store the response.
 */
export type CachePolicy = "public" | "private" | "immutable";

interface ContentOptions {
  status?: number;
  /** Applies only below status 400, because errors must not be stored. */
  cache?: CachePolicy | undefined;
  headers?: Record<string, string>;
  /** The content coding of `body`. A client that does not accept it gets the decoded body. */
  coding?: Coding;
  /** Whether many requests share this object. If so, the encoded forms of its body are kept. */
  isShared?: boolean;
}

export const JSON_TYPE = "application/json; charset=utf-8";

/** A serialized body with its content type. */
export class Content {
  readonly type: string;
  readonly body: Body | null;
  readonly status: number;
  readonly cache: CachePolicy | undefined;
  readonly headers: Record<string, string> | undefined;
  readonly coding: Coding;
  /** The encoded forms of a shared body, each created when it is first needed. */
  readonly shared: Partial<Record<Coding, Blob>> | undefined;
  /** The hash of the body, used in the ETag and computed when first needed. */
  hash: string | undefined;

  constructor(type: string, body: Body | null, options: ContentOptions = {}) {
    this.type = type;
    this.body = body;
    this.status = options.status ?? 200;
    this.cache = options.cache;
    this.headers = options.headers;
    this.coding = options.coding ?? "identity";
    this.shared = options.isShared ? {} : undefined;
  }
}

/**
 * Returns a handler's result as a `Content`. An object is serialized as JSON, and a string is JSON
 * that is already serialized. `cache` applies unless the result is a `Content`.
 */
export function contentOf(value: unknown, cache: CachePolicy | undefined): Content {
  if (value instanceof Content) return value;
  if (value instanceof Response) return contentOf(fail("internal_error"), undefined);
  const isStatus = value instanceof ElysiaCustomStatusResponse;
  const body = isStatus ? value.response : value;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  if (!isStatus) return new Content(JSON_TYPE, text, { cache });
  const seconds = body?.error?.retry_after;
  const headers = seconds === undefined ? {} : { "retry-after": String(seconds) };
  return new Content(JSON_TYPE, text, { status: Number(value.code), headers, cache });
}

/** The status and body of an error. `details` adds or replaces fields of the error object. */
export function fail<Code extends ErrorCode>(
  code: Code,
  details: { retry_after?: number; message?: string } = {},
) {
  const { status: number, message } = errors[code];
  return status(number, { success: false as const, error: { code, message, ...details } });
}

/** An error with additional headers, and another status if one is given. */
export function failWithHeaders(
  code: ErrorCode,
  headers: Record<string, string>,
  status: number = errors[code].status,
): Content {
  const body = JSON.stringify(fail(code).response);
  return new Content(JSON_TYPE, body, { status, headers });
}
