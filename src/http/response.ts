/**
 * The two shapes of every answer: a success object and an error object, as compact JSON; and the
 * headers that every answer has.
 */
import { type ErrorCode, errors } from "../domain/error.ts";
import { apiVersion } from "../domain/version.ts";

/** For browsers on other sites, and for those that would guess a type. */
export const commonHeaders = {
  "x-api-version": apiVersion,
  "x-content-type-options": "nosniff",
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "ETag, RateLimit, RateLimit-Policy, Retry-After, X-API-Version, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id",
};

export const jsonHeaders = { "content-type": "application/json; charset=utf-8" };

/** 200 with `success: true` before the fields of `body`. */
export function succeed(body: Record<string, unknown>): Response {
  return new Response(JSON.stringify({ success: true, ...body }), { headers: jsonHeaders });
}

/** The status and sentence of `code`, with more fields of the error object where it has any. */
export function fail(code: ErrorCode, details: Record<string, unknown> = {}): Response {
  const { status, message } = errors[code];
  const body = { success: false, error: { code, message, ...details } };
  return new Response(JSON.stringify(body), { status, headers: jsonHeaders });
}
