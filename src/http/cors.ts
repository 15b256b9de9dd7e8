/** Cross-origin requests (the Fetch standard): any page may read every response and its headers. */

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
