/**
 * The endpoints of the API by operation id: their paths, the target under which faults reach them,
 * and their group in the documentation. Nothing else repeats a path.
 */

/** Searches count against the limit. A service route is not cached and has no prefix. */
export const endpoints = {
  searchCompanies: { path: "/search/companies", target: "search", tag: "Search" },
  searchUsers: { path: "/search/users", target: "search", tag: "Search" },
  getPublicUser: { path: "/users/public/:userId", target: "profile", tag: "Users" },
  listUserAchievements: {
    path: "/users/:userId/achievements",
    target: "achievements",
    tag: "Users",
  },
  getHealth: { path: "/health", target: "health", tag: "Service" },
} as const;

/** The users and search endpoints also exist under this path. */
export const API_PREFIX = "/api";

export type Endpoint = (typeof endpoints)[keyof typeof endpoints];

/**
 * Matches the URL of a request to the API, with or without the base path. Not that of an unknown
 * path, which may get a page. One pattern takes half as long as taking the URL apart first.
 */
export function apiUrlPattern(basePath: string): RegExp {
  const base = basePath.replace(/[^\w/]/g, "\\$&");
  const paths = Object.values(endpoints).map(({ path }) => path.replace(/:\w+/, "[^/%?]+"));
  const path = `(?:${base})?(?:${API_PREFIX})?(?:${paths.join("|")})`;
  return new RegExp(`^(?:https?://[^/]*)?${path}(?:\\?|$)`);
}
