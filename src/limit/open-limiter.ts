/** Opens the limiter that the settings ask for: none, in memory, or shared through a store. */
import type { Limiter } from "./decision.ts";
import { MemoryLimiter } from "./memory-limiter.ts";
import type { SharedLimiterOptions } from "./shared-limiter.ts";

interface LimitValues {
  /** Searches per window and client; 0 for no limit. */
  searchLimit: number;
  /** The length of the window, in milliseconds. */
  searchWindow: number;
  maxClients: number;
  clock?: (() => number) | undefined;
  /** The URL of a Redis or Valkey server. */
  rateLimitStore?: string | undefined;
}

/** `hooks` is needed with a store, and says when the store goes down and comes back. */
export async function openLimiter(
  { searchLimit: limit, searchWindow: windowMs, maxClients, clock, rateLimitStore }: LimitValues,
  hooks: Pick<SharedLimiterOptions, "onDown" | "onUp"> = { onDown() {}, onUp() {} },
): Promise<Limiter | undefined> {
  if (limit === 0) return undefined;
  const options = { limit, windowMs, maxClients, clock };
  if (rateLimitStore === undefined) return new MemoryLimiter(options);
  // Imported only if needed, because only Bun has a Redis client.
  const { SharedLimiter } = await import("./shared-limiter.ts");
  return SharedLimiter.open({ ...options, ...hooks, url: rateLimitStore });
}
