/** The results of handlers and hooks that are not data: errors, preflights and dropped connections. */
import { status } from "elysia";
import { Content, JSON_TYPE } from "./content.ts";
import { type ErrorCode, errors, type StatusOf } from "./error-codes.ts";

type Details = { retry_after?: number };

/** A handler returns this. A thrown error takes longer, and in a host app its `onError` gets it. */
export function fail<Code extends ErrorCode>(code: Code, details?: Details) {
  const number: StatusOf<Code> = errors[code].status;
  return status(number, errorBody(code, errors[code].message, details));
}

export function errorBody<Code extends string>(code: Code, message: string, details?: Details) {
  return { success: false as const, error: { code, message, ...details } };
}

/** The response to a client whose earlier requests are still waiting. */
export const busy = new Content(JSON_TYPE, JSON.stringify(fail("unavailable").response), {
  status: errors.unavailable.status,
  retryAfterSeconds: 1,
});

/** A hook returns this to drop the connection without a response. */
export class DroppedConnection {}

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

/** Responds to a request whose method is neither GET nor HEAD. */
export function respondToMethod(method: string) {
  return method === "OPTIONS" ? preflight : fail("method_not_allowed");
}
