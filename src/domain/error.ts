/** The API's error codes. Each message is one sentence that a person can act on. */

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
  route_not_found: { status: 404, message: "This path does not exist; see /docs for all paths." },
  method_not_allowed: { status: 405, message: "This API is read-only; use GET or HEAD." },
  rate_limited: {
    status: 429,
    message:
      "Too many searches from your address; try again after the number of seconds in retry_after.",
  },
  internal_error: {
    status: 500,
    message: "The server failed unexpectedly; please report the X-Request-Id of this response.",
  },
  unavailable: { status: 503, message: "The data is temporarily unavailable; try again later." },
} as const;

export type ErrorCode = keyof typeof errors;
