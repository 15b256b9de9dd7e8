/**
 * The results of handlers and hooks that are not data (errors and preflights), and the types of errors.
 */
import { type Static, Type } from "@sinclair/typebox";
import { status } from "elysia";
import { Content, type ContentOptions, JSON_TYPE } from "./content.ts";
import { type ErrorCode, errors, type errorsOf, type StatusOf } from "./endpoints.ts";

/** Added to the body of an error. A message replaces the usual one of its code. */
type Details = { message?: string; retry_after?: number };

/** A handler returns this. A thrown error takes longer, and in a host app its `onError` gets it. */
export function fail<Code extends ErrorCode>(code: Code, details?: Details) {
  const number: StatusOf<Code> = errors[code].status;
  return status(number, errorBody(code, errors[code].message, details));
}

export function errorBody<Code extends string>(code: Code, message: string, details?: Details) {
  return { success: false as const, error: { code, message, ...details } };
}

/** Sent with a preflight and a 405. */
export const allowHeaders = { Allow: "GET, HEAD, OPTIONS" };

/** The content of a failed result, which may also be one of the app that Roadbook is mounted in. */
export function errorContent(
  { code, response }: { code: unknown; response?: Partial<ErrorBody> | null },
  options?: ContentOptions,
): Content {
  return new Content(JSON_TYPE, JSON.stringify(response), {
    status: Number(code),
    headers: code === 405 ? allowHeaders : {},
    retryAfterSeconds: response?.error?.retry_after,
    ...options,
  });
}

/** The response to a client whose earlier requests are still waiting. */
export const busy = errorContent(fail("unavailable"), { retryAfterSeconds: 1 });

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

export const ErrorBody = Type.Object({
  success: Type.Literal(false),
  error: Type.Object({
    code: Type.Unsafe<ErrorCode>(Type.String({ enum: Object.keys(errors) })),
    message: Type.String({ description: "One sentence for people, which may change" }),
    retry_after: Type.Optional(
      Type.Integer({ minimum: 1, description: "Seconds to wait; only with `rate_limited`" }),
    ),
  }),
});
/** The JSON of an error. A browser may get a page instead. */
export type ErrorBody = Static<typeof ErrorBody>;

/**
 * The errors of a kind of route, also those that come from hooks, for the types of a typed client, which has
 * only the methods that a route allows. No response has status 422, but Elysia's own type of it has
 * another body. These are types only, because with schemas Elysia would check each response, and pass on
 * a returned error without its status.
 */
export function errorTypes<Kind extends keyof typeof errorsOf>() {
  type Code = Exclude<(typeof errorsOf)[Kind][number], "method_not_allowed">;
  return {} as { response: Record<StatusOf<Code> | 422, typeof ErrorBody> };
}
