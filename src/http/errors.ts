/** Makes the API's errors from their codes, and lists which routes return which. */
import { status } from "elysia";
import { Content, JSON_TYPE } from "./content.ts";
import { type ErrorBody, type ErrorCode, errors } from "./error-codes.ts";

type Details = { retry_after?: number };

type StatusOf<Code extends ErrorCode> = (typeof errors)[Code]["status"];

/** A handler returns this, and a hook throws it. */
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
  headers: { "retry-after": "1" },
});

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
