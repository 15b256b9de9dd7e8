/** The results of handlers: a plain object for JSON, `fail` for an error, or any `Content`. */
import { ElysiaCustomStatusResponse, status } from "elysia";
import { type ErrorBody, type ErrorCode, errors } from "./error-codes.ts";

export type Coding = "gzip" | "identity";
export type Body = string | Uint8Array<ArrayBuffer>;

/** With `--cache-max-age`, any cache may reuse `public`, and only the client's own `private`. */
export type CachePolicy = "public" | "private" | "immutable";

interface ContentOptions {
  status?: number;
  /** Ignored from status 400 up and without a body: neither may be stored. */
  cache?: CachePolicy | undefined;
  headers?: Record<string, string>;
  /** The content coding of the body. A client that does not accept it gets the decoded body. */
  coding?: Coding;
  /** Whether many requests share this object. If so, the encoded forms of its body are kept. */
  isShared?: boolean;
}

/** Sent with a preflight and a 405. */
export const allowHeaders = { Allow: "GET, HEAD, OPTIONS" };

export const JSON_TYPE = "application/json; charset=utf-8";

export class Content {
  readonly type: string;
  readonly body: Body | null;
  readonly options: ContentOptions;
  /** The hash of the body, and a shared body in each coding. Each is made when first needed. */
  hash: string | undefined;
  shared: Partial<Record<Coding, Blob>> | undefined;

  constructor(type: string, body: Body | null, options: ContentOptions = {}) {
    this.type = type;
    this.body = body;
    this.options = options;
  }
}

/** A string is JSON that is already serialized. `cache` applies to it and to plain objects only. */
export function contentOf(value: unknown, cache?: CachePolicy): Content {
  if (value instanceof Content) return value;
  if (value instanceof Response) return contentOf(fail("internal_error"));
  if (!(value instanceof ElysiaCustomStatusResponse)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return new Content(JSON_TYPE, text, { cache });
  }
  const { code, response } = value;
  const seconds = response?.error?.retry_after;
  const headers = {
    ...(seconds !== undefined && { "retry-after": String(seconds) }),
    ...(code === 405 && allowHeaders),
  };
  return new Content(JSON_TYPE, JSON.stringify(response), { status: Number(code), headers });
}

/** Whether a hook has thrown this, to be sent instead of what the handler returns. */
export function isResult(thrown: unknown): boolean {
  const kinds = [ElysiaCustomStatusResponse, Content, Response];
  return kinds.some((kind) => thrown instanceof kind);
}

type Details = { retry_after?: number };

export function fail<Code extends ErrorCode>(code: Code, details?: Details) {
  const number: StatusOf<Code> = errors[code].status;
  return status(number, errorBody(code, errors[code].message, details));
}

type StatusOf<Code extends ErrorCode> = (typeof errors)[Code]["status"];

/** The errors of each kind of route, in addition to those that every route can return. */
export const ownErrors = {
  Users: ["invalid_user_id", "profile_private", "user_not_found"],
  Search: ["invalid_query", "rate_limited"],
  Service: [],
} as const;

type CodeOf<Kind extends keyof typeof ownErrors> =
  | (typeof ownErrors)[Kind][number]
  | "internal_error"
  | "unavailable";

type ErrorTypes = {
  [Kind in keyof typeof ownErrors]: {
    response: Record<StatusOf<CodeOf<Kind>> | 422, typeof ErrorBody>;
  };
};

/**
 * Tells typed clients the errors of each kind of route, also those that hooks return. Elysia's types
 * give 422 another body, although no response has that status. Empty at run time: with schemas,
 * Elysia would validate responses, and `mapResponse` would get an error without its status.
 */
export const errorTypes = { Users: {}, Search: {}, Service: {} } as ErrorTypes;

/** The response to a client whose earlier requests are still waiting. */
export const busy = new Content(JSON_TYPE, JSON.stringify(fail("unavailable").response), {
  status: errors.unavailable.status,
  headers: { "retry-after": "1" },
});

export function errorBody<Code extends string>(code: Code, message: string, details?: Details) {
  return { success: false as const, error: { code, message, ...details } };
}
