/** Lists the errors that each kind of route returns, and gives typed clients their types. */
import type { ErrorBody } from "./error-codes.ts";
import type { StatusOf } from "./errors.ts";

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
