/** Lists the errors of each kind of route, with their schemas. */
import { ErrorBody, type ErrorCode } from "./error-codes.ts";
import type { StatusOf } from "./errors.ts";

const commonErrors = ["method_not_allowed", "internal_error", "unavailable"] as const;

/** The errors of each kind of route, in addition to those of every route. */
const ownErrors = {
  Users: ["invalid_user_id", "profile_private", "user_not_found"],
  Search: ["invalid_query", "rate_limited"],
  Service: [],
} as const;

type Kind = keyof typeof ownErrors;

/** All errors that a kind of route can return. */
export function errorsOf(kind: Kind): ErrorCode[] {
  return [...ownErrors[kind], ...commonErrors];
}

/** A typed client has only the methods that a route allows. */
type CodeOf<One extends Kind> = Exclude<
  (typeof ownErrors)[One][number] | (typeof commonErrors)[number],
  "method_not_allowed"
>;

const common = { 422: ErrorBody, 500: ErrorBody, 503: ErrorBody };

/**
 * The schemas of the errors, which give typed clients their types. No response has status 422, for
 * which Elysia would add a type with another body.
 */
export const errorResponses = {
  Users: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, ...common },
  Search: { 400: ErrorBody, 429: ErrorBody, ...common },
  Service: common,
} satisfies { [One in Kind]: Record<StatusOf<CodeOf<One>> | 422, typeof ErrorBody> };
