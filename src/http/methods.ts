/** The methods that every path has: GET and HEAD, and OPTIONS for a preflight. */
import { Content } from "./content.ts";

/** Sent with a preflight and a 405. */
export const allowHeaders = { Allow: "GET, HEAD, OPTIONS" };

/** The response to a preflight request, which browsers may cache for a day. */
export const preflight = new Content("", null, {
  status: 204,
  headers: {
    ...allowHeaders,
    "access-control-allow-methods": allowHeaders.Allow,
    "access-control-allow-headers": "*",
    "access-control-max-age": "86400",
  },
});
