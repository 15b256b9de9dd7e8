/**
 * Results that are asked for again, with what response.ts makes of them, by URL. They are those of one
 * snapshot, and go when it goes. A cached profile takes three fifths of the time, a hundred achievements a
 * third. Searches are never added: a cached one is faster, which would tell a client that another has
 * made it.
 */
import { LRUCache } from "lru-cache";
import type { Snapshot } from "../snapshot/read/open.ts";
import type { Result } from "./result.ts";
import type { Match } from "./router.ts";

const MAX_RESULTS = 1000;

/** Of the bodies together. Each of the three codings of them takes as much again at worst. */
const MAX_BYTES = 8 * 2 ** 20;

/** Nobody asks a longer one again. */
const MAX_URL_LENGTH = 200;

export interface Cached {
  match: Match;
  result: Result;
}

/** `find` gives the route and the result at a URL, if they are cached; `add` may cache them. */
export function createResultCache(snapshot: () => Snapshot) {
  const cache = new LRUCache<string, Cached>({
    max: MAX_RESULTS,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ result: { body } }) => body?.length || 1,
  });
  /** What was asked for once: to cache what is never asked again takes 8 % of a request, this 3 %. */
  const askedOnce = new Set<string>();
  let last: Snapshot | undefined;
  return {
    find(url: string): Cached | undefined {
      const current = snapshot();
      if (current !== last || current.isSpoiled()) cache.clear();
      last = current;
      return cache.get(url);
    },
    add(url: string, match: Match, result: Result | Promise<Result>): void {
      // What was waited for may be of the snapshot before.
      if (result instanceof Promise || result.status !== 200 || url.length > MAX_URL_LENGTH) return;
      if (askedOnce.delete(url)) {
        cache.set(url, { match, result: { ...result, body: Buffer.from(result.body ?? "") } });
      } else askedOnce.add(url);
      if (askedOnce.size > MAX_RESULTS) askedOnce.clear();
    },
  };
}
