/** Makes the API's errors from their codes, with their headers. */
import { status } from "elysia";
import { Content, JSON_TYPE } from "./content.ts";
import { type ErrorCode, errors } from "./error-codes.ts";

type Details = { retry_after?: number };

export type StatusOf<Code extends ErrorCode> = (typeof errors)[Code]["status"];

/**
 * Hooks throw this, and so does the handler of a route with schemas of its responses: if it returned
 * this, Elysia would pass on the body without the status.
 */
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
