/**
 * The endpoints of the API by operation id: their paths, the target under which faults reach them,
 * and their group in the documentation. Nothing else repeats a path.
 */
import { pathOf } from "./url.ts";

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

const firstSegments = new Set(Object.values(endpoints).map(({ path }) => path.split("/")[1]));
const API_PATH = new RegExp(`/(?:${[...firstSegments].join("|")})(?:/|$)`);

/** Whether the path may be one of the API, under any base path. */
export const isApiPath = (url: string): boolean => API_PATH.test(pathOf(url));
