/**
 * Validators and freshness (RFC 9110, 9111): what a cache may keep, and the 304 of who has it
 * already. Knows nothing of what an answer says.
 */
import { createHash } from "node:crypto";

/** Who may keep an answer: anyone, or only the client's own cache. */
export type Audience = "public" | "private";

/** Who may keep the answers of a route of the API; of other routes nothing is said. */
export const audiences = {
  "/users/public/:userId": "public",
  "/users/:userId/achievements": "public",
  "/search/companies": "private",
  "/search/users": "private",
} as const satisfies Record<string, Audience>;

export type ApiRoute = keyof typeof audiences;

export function isApiRoute(route: string): route is ApiRoute {
  return Object.hasOwn(audiences, route);
}

/** Searches are the client's own business. */
export function isSearchRoute(route: ApiRoute): boolean {
  return audiences[route] === "private";
}

/**
 * By default a cache asks again each time, because a profile that has gone private must be gone; the
 * ETag makes that cheap.
 */
export function cacheControl(audience: Audience, maxAgeSeconds: number): string {
  return maxAgeSeconds > 0 ? `${audience}, max-age=${maxAgeSeconds}` : "no-cache";
}

/** A strong validator of these bytes in that content coding. */
export function etagOf(body: Uint8Array, coding = "identity"): string {
  return `"${createHash("sha1").update(body).digest("base64url")}-${coding}"`;
}

/**
 * Whether If-None-Match names `etag`: a list, weak or strong, or `*` (RFC 9110, 13.1.2, which
 * compares weakly). What is no such list matches nothing.
 */
export function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  for (const [tag] of header.matchAll(/"[\x21\x23-\x7e\x80-\xff]*"/g))
    if (tag === etag) return true;
  return false;
}
