/**
 * The error codes of the API, and which of them each kind of endpoint has. Loads nothing, because the
 * command line needs it, too.
 */
import type { Endpoint } from "./endpoints.ts";

/** Each message is one sentence that a person can act on. */
export const errors = {
  invalid_user_id: {
    status: 400,
    message: "The user id must have 1 to 16 digits and no leading zero.",
  },
  invalid_query: {
    status: 400,
    message: "The query parameter q must have at least 2 characters.",
  },
  profile_private: { status: 403, message: "This user's profile is private." },
  user_not_found: { status: 404, message: "There is no user with this id." },
  route_not_found: { status: 404, message: "This path does not exist; see /docs for the API." },
  method_not_allowed: { status: 405, message: "This API is read-only; use GET or HEAD." },
  rate_limited: {
    status: 429,
    message:
      "Too many requests from your address; try again after the number of seconds in retry_after.",
  },
  internal_error: {
    status: 500,
    message: "The server failed unexpectedly; please report the X-Request-Id of this response.",
  },
  unavailable: { status: 503, message: "The data is temporarily unavailable; try again later." },
} as const;

export type ErrorCode = keyof typeof errors;
export type StatusOf<Code extends ErrorCode> = (typeof errors)[Code]["status"];

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(errors, value);
}

const commonErrors = ["method_not_allowed", "internal_error", "unavailable"] as const;

/** All errors that each kind of route can return. */
export const errorsOf = {
  Users: ["invalid_user_id", "profile_private", "user_not_found", ...commonErrors],
  Search: ["invalid_query", "rate_limited", ...commonErrors],
  Service: commonErrors,
} as const satisfies Record<Endpoint["tag"], readonly ErrorCode[]>;
