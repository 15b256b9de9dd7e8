/** Freshness (RFC 9111): which caches may store the successful response of a route, and how long. */

/**
 * `public` and `private` responses have validators. `public`: any cache may store it; `private`: only
 * the client's own, as what somebody searches for is theirs. `hour`: any cache, for an hour. `none`:
 * nothing is said.
 */
export type CachePolicy = "public" | "private" | "hour" | "none";

export function hasValidator(policy: CachePolicy): boolean {
  return policy === "public" || policy === "private";
}

/**
 * By default a cache asks again each time, because a profile that has gone private must be gone; the
 * ETag makes that cheap.
 */
export function cacheHeaders(policy: CachePolicy, maxAgeSeconds: number): Record<string, string> {
  if (policy === "none") return {};
  if (policy === "hour") return { "cache-control": "max-age=3600" };
  const control = maxAgeSeconds > 0 ? `${policy}, max-age=${maxAgeSeconds}` : "no-cache";
  return { "cache-control": control, vary: "accept-encoding" };
}
