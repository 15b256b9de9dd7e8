/**
 * Methods and cross-origin requests (the Fetch standard): every path is read, and any page may read
 * every response and its headers.
 */
import { Content, failWithHeaders } from "./result.ts";

export const ALLOWED_METHODS = "GET, HEAD, OPTIONS";

/** On every response. */
export const corsHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "ETag, RateLimit, RateLimit-Policy, Retry-After, X-API-Version, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id",
};

/** On the response to a preflight; a browser holds it for a day. */
export const preflightHeaders = {
  "access-control-allow-methods": ALLOWED_METHODS,
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

const allow = { allow: ALLOWED_METHODS };

/** The responses to OPTIONS and to methods that would write. */
export const preflight = new Content("", null, {
  status: 204,
  headers: { ...preflightHeaders, ...allow },
});
export const methodNotAllowed = failWithHeaders("method_not_allowed", allow);
