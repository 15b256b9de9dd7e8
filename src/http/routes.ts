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
import {
  searchCompanies,
  searchCompaniesOperation,
  searchUsers,
  searchUsersOperation,
} from "./search.ts";
import {
  achievementsOperation,
  getPublicUser,
  listUserAchievements,
  publicUserOperation,
} from "./users.ts";

export interface Route {
  /** Its name in the OpenAPI document: the `operationId`. */
  name: string;
  /** The template of its path, which stands for the route in logs and metrics, too. */
  path: string;
  /** Whether the same route is under /api as well. */
  api: boolean;
  cache: CachePolicy;
  /** Whether a request counts against the search limit. */
  limited: boolean;
  /** What the OpenAPI document says of it; without it, nothing. */
  operation?: Operation;
  handler: Handler;
}

/** Reads a GET, or a HEAD as if it were one. What it throws becomes a 500. */
export type Handler = (context: Context) => Result | Promise<Result>;

const routes: readonly Route[] = [
  {
    name: "getPublicUser",
    path: "/users/public/:userId",
    api: true,
    cache: "public",
    limited: false,
    operation: publicUserOperation,
    handler: getPublicUser,
  },
  {
    name: "listUserAchievements",
    path: "/users/:userId/achievements",
    api: true,
    cache: "public",
    limited: false,
    operation: achievementsOperation,
    handler: listUserAchievements,
  },
  {
    name: "searchCompanies",
    path: "/search/companies",
    api: true,
    cache: "private",
    limited: true,
    operation: searchCompaniesOperation,
    handler: searchCompanies,
  },
  {
    name: "searchUsers",
    path: "/search/users",
    api: true,
    cache: "private",
    limited: true,
    operation: searchUsersOperation,
    handler: searchUsers,
  },
  {
    name: "getHealth",
    path: "/health",
    api: false,
    cache: "none",
    limited: false,
    operation: healthOperation,
    handler: getHealth,
  },
  {
    name: "getDocsPage",
    path: "/docs",
    api: false,
    cache: "hour",
    limited: false,
    handler: getDocsPage,
  },
  {
    name: "getOpenApi",
    path: "/docs/json",
    api: false,
    cache: "public",
    limited: false,
    handler: getOpenApi,
  },
  {
    name: "getDocsScript",
    path: "/docs/scalar.js",
    api: false,
    cache: "hour",
    limited: false,
    handler: getDocsScript,
  },
  {
    name: "getAvatar",
    path: "/avatars/:file",
    api: false,
    cache: "public",
    limited: false,
    handler: getAvatar,
  },
  {
    name: "getIcon",
    path: "/icons/:file",
    api: false,
    cache: "public",
    limited: false,
    handler: getIcon,
  },
  {
    name: "getFavicon",
    path: "/favicon.svg",
    api: false,
    cache: "hour",
    limited: false,
    handler: getFavicon,
  },
  {
    name: "getRobots",
    path: "/robots.txt",
    api: false,
    cache: "hour",
    limited: false,
    handler: getRobots,
  },
];

/** The page for people. */
const pageRoutes: readonly Route[] = [
  {
    name: "getStartPage",
    path: "/",
    api: false,
    cache: "page",
    limited: false,
    handler: getStartPage,
  },
  {
    name: "getDriverPage",
    path: "/drivers/:driverId",
    api: false,
    cache: "page",
    limited: false,
    handler: getDriverPage,
  },
  {
    name: "getPageAsset",
    path: "/assets/:file",
    api: false,
    cache: "immutable",
    limited: false,
    handler: getPageAsset,
  },
];

/** What is at the start without the page. */
const redirectRoute: Route = {
  name: "redirectToDocs",
  path: "/",
  api: false,
  cache: "none",
  limited: false,
  handler: redirectToDocs,
};

export function routesWith({ page }: { page: unknown }): readonly Route[] {
  return page ? [...routes, ...pageRoutes] : [...routes, redirectRoute];
}

/** The paths at which a route is; the first of them is its template. */
export function pathsOf({ path, api }: Route): string[] {
  return api ? [path, `/api${path}`] : [path];
}
