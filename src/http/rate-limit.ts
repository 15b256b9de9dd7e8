/** The search limit in HTTP: the 429 of a client over it, and the headers that say where one stands. */
import type { Decision, Limiter } from "../limit/limiter.ts";
import { fail, type Result } from "./result.ts";

export interface SearchLimit {
  limiter: Limiter;
  windowMs: number;
  /** Unix time in milliseconds. */
  clock: () => number;
}

/** The 429 of a client that has used up its budget. */
export function failLimited({ resetMs }: Pick<Decision, "resetMs">): Result {
  const retry_after = toSeconds(resetMs);
  return { ...fail("rate_limited", { retry_after }), headers: { "retry-after": `${retry_after}` } };
}

/** Sets the standard's headers (draft-ietf-httpapi-ratelimit-headers) and those of today's clients. */
export function setRateLimitHeaders(
  headers: Headers,
  { windowMs, clock }: SearchLimit,
  decision: Decision,
): void {
  const { limit, remaining, resetMs } = decision;
  headers.set("ratelimit-policy", `"search";q=${limit};w=${toSeconds(windowMs)}`);
  headers.set("ratelimit", `"search";r=${remaining};t=${toSeconds(resetMs)}`);
  headers.set("x-ratelimit-limit", String(limit));
  headers.set("x-ratelimit-remaining", String(remaining));
  headers.set("x-ratelimit-reset", String(toSeconds(clock() + resetMs)));
}

/** Whole seconds, rounded up: waiting that long is enough. */
function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}
