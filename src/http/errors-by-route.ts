/** Lists the errors of each kind of route, and gives typed clients their types. */
import type { ErrorBody, ErrorCode } from "./error-codes.ts";
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

type ErrorTypes = {
  [One in Kind]: { response: Record<StatusOf<CodeOf<One>> | 422, typeof ErrorBody> };
};

/**
 * The errors of each kind of route as types, also those that come from hooks. No response has status
 * 422, but Elysia's own type of it has another body. These are types only, because with schemas
 * Elysia would check each response, and pass on a returned error without its status.
 */
export const errorTypes = { Users: {}, Search: {}, Service: {} } as ErrorTypes;
