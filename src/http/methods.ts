/** The methods that every path has: GET and HEAD, and OPTIONS for a preflight. Others get a 405. */
import { Content } from "./content.ts";
import { fail } from "./errors.ts";

/** Sent with a preflight and a 405. */
export const allowHeaders = { Allow: "GET, HEAD, OPTIONS" };

/** The response to a preflight request, which browsers may cache for a day. */
const preflight = new Content("", null, {
  status: 204,
  headers: {
    ...allowHeaders,
    "access-control-allow-methods": allowHeaders.Allow,
    "access-control-allow-headers": "*",
    "access-control-max-age": "86400",
  },
});

export const headersOfError = (status: number) => (status === 405 ? allowHeaders : {});

/** Responds to a request whose method is neither GET nor HEAD. */
export function respondToMethod(method: string) {
  return method === "OPTIONS" ? preflight : fail("method_not_allowed");
}
