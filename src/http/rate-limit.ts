/** The search limit over HTTP: the 429 for a client over the limit, and the rate-limit headers. */
import type { Decision, Limiter, LimitPolicy } from "../limit/limiter.ts";
import { fail } from "./errors.ts";
import type { RequestContexts } from "./request-context.ts";

/** Each counts a request, and returns the decision if the client is over the limit. */
export interface Counters {
  countSearch(request: Request): Promise<Decision | undefined>;
  countCompanyPage(request: Request): Decision | undefined;
}

export function createCounters(limiter: Limiter, contexts: RequestContexts): Counters {
  return {
    async countSearch(request) {
      const client = contexts.limitedClientOf(request);
      const decision = client && (await limiter.consume(client));
      contexts.of(request).decision = decision;
      return decision?.allowed ? undefined : decision;
    },
    countCompanyPage(request) {
      const client = contexts.limitedClientOf(request);
      const decision = client && limiter.consumeCompanyPage(client);
      return decision?.allowed ? undefined : decision;
    },
  };
}

export function failLimited({ resetMs }: Pick<Decision, "resetMs">) {
  return fail("rate_limited", { retry_after: toSeconds(resetMs) });
}

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers and their common predecessors, each with its
 * meaning and with a pattern or the least number, for OpenAPI.
 */
export const limitHeaders: Record<string, [meaning: string, value: string | number]> = {
  "RateLimit-Policy": ["`q` per `w` seconds", '^"search";q=\\d+;w=\\d+$'],
  RateLimit: ["`r` left, one more in `t` s", '^"search";r=\\d+;t=\\d+$'],
  "X-RateLimit-Limit": ["The number of requests per window", 1],
  "X-RateLimit-Remaining": ["The number of requests left", 0],
  "X-RateLimit-Reset": ["The Unix time when one more is allowed", 0],
};

/** `unixMs` is the time of the decision. */
export function limitHeadersOf(
  { limit, windowMs }: LimitPolicy,
  { remaining, resetMs }: Pick<Decision, "remaining" | "resetMs">,
  unixMs: number,
): Record<string, string> {
  return {
    "ratelimit-policy": `"search";q=${limit};w=${toSeconds(windowMs)}`,
    ratelimit: `"search";r=${remaining};t=${toSeconds(resetMs)}`,
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(toSeconds(unixMs + resetMs)),
  };
}

/** Rounds up to whole seconds, so that waiting that long is always enough. */
export function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}
