/**
 * The endpoints of the API, the ids in their paths, and their errors. Imports nothing, because the
 * command line needs it, too.
 */

/**
 * The endpoints by operation id: their paths, the target under which faults reach them, their tag in
 * the OpenAPI document, which also decides their errors and headers, and who may store what they
 * return. Searches count against the limit. A service route has no prefix.
 */
export const endpoints = {
  searchCompanies: {
    path: "/search/companies",
    target: "companies",
    tag: "Search",
    cache: "private",
  },
  searchUsers: { path: "/search/users", target: "users", tag: "Search", cache: "private" },
  getPublicUser: {
    path: "/users/public/:userId",
    target: "profile",
    tag: "Users",
    cache: "public",
  },
  listUserAchievements: {
    path: "/users/:userId/achievements",
    target: "achievements",
    tag: "Users",
    cache: "public",
  },
  getHealth: { path: "/health", target: "health", tag: "Service", cache: "none" },
} as const;

/** The users and search endpoints also exist under this path. */
export const API_PREFIX = "/api";

export type Endpoint = (typeof endpoints)[keyof typeof endpoints];

const all = Object.values(endpoints);

/** The endpoint of a route, which may have /api, a host program's mount path, or both in front. */
export function endpointOf(route = ""): Endpoint | undefined {
  return all.find(({ path }) => route.endsWith(path));
}

/**
 * Matches the URL of a request to the API, with or without the base path, but not that of an unknown
 * path, which may get a page. Endpoints of the tag `except` are left out.
 */
export function apiUrlPattern(basePath: string, except?: Endpoint["tag"]): RegExp {
  const base = basePath.replace(/[^\w/]/g, "\\$&");
  const covered = all.filter(({ tag }) => tag !== except);
  const paths = covered.map(({ path, tag }) => {
    const prefix = tag === "Service" ? "" : `(?:${API_PREFIX})?`;
    return prefix + path.replace(/:\w+/, "[^/%?]+");
  });
  return new RegExp(`^(?:https?://[^/]*)?(?:${base})?(?:${paths.join("|")})(?:\\?|$)`);
}

/**
 * The ids of users and companies: 1 to 16 digits without a leading zero. Ids end at 2^53−1, so some of
 * these numbers are no ids.
 */
export const ID = "^[1-9]\\d{0,15}$";

const idPattern = new RegExp(ID);

export function parseId(text: string): number | undefined {
  return idPattern.test(text) ? Number(text) : undefined;
}

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
