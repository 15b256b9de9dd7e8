/**
 * Allowed methods and cross-origin requests (the Fetch standard). Every path is read-only, and a
 * page from any origin may read every response and its headers.
 */
import { Content, failWithHeaders } from "./result.ts";

export const ALLOWED_METHODS = "GET, HEAD, OPTIONS";

/** Sent with every response. */
export const corsHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "ETag, RateLimit, RateLimit-Policy, Retry-After, X-API-Version, X-RateLimit-Limit, " +
    "X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id",
};

/** Sent in response to a preflight request. Browsers may cache the response for a day. */
export const preflightHeaders = {
  "access-control-allow-methods": ALLOWED_METHODS,
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

const allow = { allow: ALLOWED_METHODS };

export const preflight = new Content("", null, {
  status: 204,
  headers: { ...preflightHeaders, ...allow },
});
export const methodNotAllowed = failWithHeaders("method_not_allowed", allow);
