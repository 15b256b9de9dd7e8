/** Makes the API's errors from their codes, with their headers. */
import { status } from "elysia";
import { Content, JSON_TYPE } from "./content.ts";
import { type ErrorCode, errors } from "./error-codes.ts";

type Details = { retry_after?: number };

export type StatusOf<Code extends ErrorCode> = (typeof errors)[Code]["status"];

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

/**
 * Ends a request before its input is validated, if a `transform` hook returns this. Elysia sends it
 * without `mapResponse`, and takes the status 200 to mean that of the response.
 */
export function endWith(response: Response): undefined {
  const result: unknown = status(200, response);
  return result as undefined;
}
