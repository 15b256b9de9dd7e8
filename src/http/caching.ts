/** Freshness (RFC 9111): which caches may store the successful response of a route, and how long. */

/**
 * `public` and `private` responses have validators. `public`: any cache may store it; `private`: only
 * the client's own, as what somebody searches for is theirs. `page`: the reader's own, which asks
 * again each time. `immutable`: any cache, for good, as the name changes with the content. `hour`: any
 * cache, for an hour. `none`: no cache.
 */
export type CachePolicy = "public" | "private" | "page" | "immutable" | "hour" | "none";

export function hasValidator(policy: CachePolicy): boolean {
  return policy !== "none";
}

/**
 * By default a cache asks again each time, because a profile that has gone private must be gone; the
 * ETag makes that cheap.
 */
export function cacheHeaders(policy: CachePolicy, maxAgeSeconds: number): Record<string, string> {
  const apiControl = maxAgeSeconds > 0 ? `${policy}, max-age=${maxAgeSeconds}` : "no-cache";
  const controls: Record<CachePolicy, string> = {
    public: apiControl,
    private: apiControl,
    page: "private, no-cache",
    immutable: "public, max-age=31536000, immutable",
    hour: "public, max-age=3600",
    none: "no-store",
  };
  const vary = policy === "page" ? "accept, accept-encoding, accept-language" : "accept-encoding";
  return { "cache-control": controls[policy], ...(hasValidator(policy) && { vary }) };
}
