/** Freshness (RFC 9111): which caches may store a successful response, and for how long. */

/**
 * - `public`: any cache may store the response.
 * - `private`: only the client's own cache may store the response, because searches are personal.
 * - `page`: only the client's own cache may store the response, and must revalidate every time.
 * - `immutable`: any cache may store the response permanently. New content gets a new URL.
 * - `hour`: any cache may store the response for an hour.
 * - `none`: no cache may store the response. Responses with any other policy have validators.
 */
export type CachePolicy = "public" | "private" | "page" | "immutable" | "hour" | "none";

export function hasValidator(policy: CachePolicy): boolean {
  return policy !== "none";
}

/**
 * By default, a cache must revalidate every time, so that a profile disappears as soon as it
 * becomes private. The ETag makes revalidation cheap.
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
