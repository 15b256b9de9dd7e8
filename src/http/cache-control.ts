/** Decides which caches may store a response, and for how long. */

/**
 * With `--cache-max-age`, any cache may reuse `public`, and only the client's own `private`. That of
 * the client may always reuse `search` for a minute, because loading it again, as with Back, would
 * count as another search.
 */
export type CachePolicy = "public" | "private" | "search" | "immutable";

/** `none` is what nobody may store. */
export type Storage = CachePolicy | "none";

/** An error, or a response without a body, may not be stored. */
export function storageOf(status: number, hasBody: boolean, policy: CachePolicy | undefined) {
  return status < 400 && hasBody ? (policy ?? "none") : "none";
}

/** By default, caches revalidate every time, so that a newly private profile disappears at once. */
export function cacheControls(maxAgeSeconds: number): Record<Storage, string> {
  const reusable = (scope: string) =>
    maxAgeSeconds > 0 ? `${scope}, max-age=${maxAgeSeconds}` : "no-cache";
  return {
    public: reusable("public"),
    private: reusable("private"),
    search: "private, max-age=60",
    immutable: "public, max-age=31536000, immutable",
    none: "no-store",
  };
}
