/**
 * The table of routes: everything that differs from one route to the next. Each takes GET, HEAD and
 * OPTIONS; the order of what happens to a request is app.ts's.
 */
import type { CachePolicy } from "./caching.ts";
import type { Context } from "./context.ts";
import { getDocsPage, getDocsScript, getOpenApi, redirectToDocs } from "./docs.ts";
import { getAvatar, getFavicon, getIcon } from "./drawings.ts";
import { getHealth, healthOperation } from "./health.ts";
import type { Operation } from "./openapi.ts";
import { getDriverPage, getPageAsset, getRobots, getStartPage } from "./pages.ts";
import type { Result } from "./result.ts";
import * as search from "./search.ts";
import * as users from "./users.ts";

export interface Route {
  /** Its name in the OpenAPI document: the `operationId`. */
  name: string;
  /** The template of its path, which stands for the route in logs and metrics, too. */
  path: string;
  /** Whether the same route is under /api as well. */
  api?: true;
  cache: CachePolicy;
  /** Whether a request counts against the search limit. */
  limited?: true;
  /** What the OpenAPI document says of it; without it, nothing. */
  operation?: Operation;
  /** Reads a GET, or a HEAD as if it were one. What it throws becomes a 500. */
  handler(context: Context): Result | Promise<Result>;
}

export const routes: readonly Route[] = [
  {
    name: "getPublicUser",
    path: "/users/public/:userId",
    api: true,
    cache: "public",
    operation: users.publicUserOperation,
    handler: users.getPublicUser,
  },
  {
    name: "listUserAchievements",
    path: "/users/:userId/achievements",
    api: true,
    cache: "public",
    operation: users.achievementsOperation,
    handler: users.listUserAchievements,
  },
  {
    name: "searchCompanies",
    path: "/search/companies",
    api: true,
    cache: "private",
    limited: true,
    operation: search.searchCompaniesOperation,
    handler: search.searchCompanies,
  },
  {
    name: "searchUsers",
    path: "/search/users",
    api: true,
    cache: "private",
    limited: true,
    operation: search.searchUsersOperation,
    handler: search.searchUsers,
  },
  {
    name: "getHealth",
    path: "/health",
    cache: "none",
    operation: healthOperation,
    handler: getHealth,
  },
  { name: "getDocsPage", path: "/docs", cache: "hour", handler: getDocsPage },
  { name: "getOpenApi", path: "/docs/json", cache: "public", handler: getOpenApi },
  { name: "getDocsScript", path: "/docs/scalar.js", cache: "hour", handler: getDocsScript },
  { name: "getAvatar", path: "/avatars/:file", cache: "public", handler: getAvatar },
  { name: "getIcon", path: "/icons/:file", cache: "public", handler: getIcon },
  { name: "getFavicon", path: "/favicon.svg", cache: "hour", handler: getFavicon },
  { name: "getRobots", path: "/robots.txt", cache: "hour", handler: getRobots },
];

/** With the page for people. */
const pageRoutes: readonly Route[] = [
  { name: "getStartPage", path: "/", cache: "page", handler: getStartPage },
  { name: "getDriverPage", path: "/drivers/:driverId", cache: "page", handler: getDriverPage },
  { name: "getPageAsset", path: "/assets/:file", cache: "immutable", handler: getPageAsset },
];

/** Without it. */
const bareRoutes: readonly Route[] = [
  { name: "redirectToDocs", path: "/", cache: "none", handler: redirectToDocs },
];

export function routesWith({ page }: { page: unknown }): readonly Route[] {
  return [...routes, ...(page ? pageRoutes : bareRoutes)];
}

/** The paths at which a route is; the first of them is its template. */
export function pathsOf({ path, api }: Route): string[] {
  return api ? [path, `/api${path}`] : [path];
}
