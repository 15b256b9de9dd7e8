/** The API's error codes, the body of an error, and which errors each kind of route has. */
import { type Static, Type } from "@sinclair/typebox";

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

const commonErrors = ["method_not_allowed", "internal_error", "unavailable"] as const;

/** The errors of each kind of route, in addition to those of every route. */
const ownErrors = {
  Users: ["invalid_user_id", "profile_private", "user_not_found"],
  Search: ["invalid_query", "rate_limited"],
  Service: [],
} as const;

type RouteKind = keyof typeof ownErrors;

/** All errors that a kind of route can return. */
export function errorsOf(kind: RouteKind): ErrorCode[] {
  return [...ownErrors[kind], ...commonErrors];
}

/** A typed client has only the methods that a route allows. */
type CodeOf<One extends RouteKind> = Exclude<
  (typeof ownErrors)[One][number] | (typeof commonErrors)[number],
  "method_not_allowed"
>;

type ErrorTypes = {
  [One in RouteKind]: { response: Record<StatusOf<CodeOf<One>> | 422, typeof ErrorBody> };
};

/**
 * The errors of each kind of route as types, also those that come from hooks. No response has status
 * 422, but Elysia's own type of it has another body. These are types only, because with schemas
 * Elysia would check each response, and pass on a returned error without its status.
 */
export const errorTypes = { Users: {}, Search: {}, Service: {} } as ErrorTypes;
