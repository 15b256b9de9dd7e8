/**
 * The endpoints of the API, and the ids in their paths. Imports nothing, because the command line needs
 * it, too.
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
