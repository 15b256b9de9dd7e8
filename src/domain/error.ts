/** The errors of the API. Each has a code, a status, and a sentence that a person can act on. */

export const errors = {
  invalid_user_id: {
    status: 400,
    message:
      `The user id must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}, ` +
      "in digits without a sign or leading zeros.",
  },
  invalid_query: {
    status: 400,
    message: "Send the query parameter q exactly once, in UTF-8, with at least 2 characters.",
  },
  profile_private: { status: 403, message: "This user's profile is private." },
  user_not_found: { status: 404, message: "There is no user with this id." },
  route_not_found: {
    status: 404,
    message: "There is nothing at this path; see /docs for the paths of this API.",
  },
  method_not_allowed: { status: 405, message: "Use GET or HEAD: this API is read-only." },
  rate_limited: {
    status: 429,
    message: "Too many searches from your address; try again in retry_after seconds.",
  },
  internal_error: {
    status: 500,
    message: "Something went wrong on our side; please report the X-Request-Id of this response.",
  },
  unavailable: {
    status: 503,
    message: "The data is unavailable at the moment; try again later.",
  },
} as const;

export type ErrorCode = keyof typeof errors;
