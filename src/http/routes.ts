/**
 * The table of routes: everything that differs from one route to the next. Each takes GET, HEAD and
 * OPTIONS; the order of what happens to a request is app.ts's.
 */
import type { CachePolicy } from "./caching.ts";
import type { Context } from "./context.ts";
import { getDocsPage, getDocsScript, getOpenApi, redirectToDocs } from "./docs.ts";
import { getHealth, healthOperation } from "./health.ts";
import type { Operation } from "./openapi.ts";
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

export const routes: readonly Route[] = [
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
    name: "redirectToDocs",
    path: "/",
    api: false,
    cache: "none",
    limited: false,
    handler: redirectToDocs,
  },
  {
    name: "getDocsPage",
    path: "/docs",
    api: false,
    cache: "none",
    limited: false,
    handler: getDocsPage,
  },
  {
    name: "getOpenApi",
    path: "/docs/json",
    api: false,
    cache: "none",
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
];

/** The paths at which a route is; the first of them is its template. */
export function pathsOf({ path, api }: Route): string[] {
  return api ? [path, `/api${path}`] : [path];
}
