/** Opens the limiter that the settings ask for: none, in memory, or shared through a store. */
import type { Limiter } from "./decision.ts";
import { createMemoryLimiter } from "./memory-limiter.ts";
import type { StoreOptions } from "./shared-limiter.ts";

interface LimitValues {
  /** Searches per window and client; 0 for no limit. */
  searchLimit: number;
  /** The length of the window, in milliseconds. */
  searchWindow: number;
  maxClients: number;
  clock?: (() => number) | undefined;
}

/** Without a store, the limiter is in memory, so nothing has to close it. */
export async function openLimiter(
  { searchLimit: limit, searchWindow: windowMs, maxClients, clock }: LimitValues,
  store?: StoreOptions,
): Promise<Limiter | undefined> {
  if (limit === 0) return undefined;
  const options = { limit, windowMs, maxClients, clock };
  if (store === undefined) return createMemoryLimiter(options);
  // Imported only if needed, because only Bun has a Redis client.
  const { openSharedLimiter } = await import("./shared-limiter.ts");
  return openSharedLimiter({ ...options, ...store });
}
