/** The search limit in HTTP: the 429 of a client over it, and the headers that say where one stands. */
import type { Decision, Limiter } from "../limit/limiter.ts";
import type { Exchanges } from "./exchange.ts";
import { failWithHeaders } from "./result.ts";
import type { Hook } from "./service.ts";

export interface SearchLimit {
  limiter: Limiter;
  windowMs: number;
  /** Unix time in milliseconds. */
  clock: () => number;
}

/**
 * Lets a search through, or refuses it with the 429 of a client that has used up its budget. In a kiosk,
 * the searches of the screen itself, which is on the same machine, are not counted.
 */
export function createLimitHook(limiter: Limiter, exchanges: Exchanges, isKiosk = false): Hook {
  return async ({ request, server }) => {
    const exchange = exchanges.of(request);
    exchange.peer ??= server?.requestIP?.(request)?.address;
    // Without a peer, the program itself asks.
    if (exchange.peer === undefined) return undefined;
    if (isKiosk && exchanges.isLocal(request, exchange)) return undefined;
    const decision = await limiter.consume(exchanges.clientOf(request, exchange));
    exchange.decision = decision;
    return decision.allowed ? undefined : (failLimited(decision) as never);
  };
}

/** The 429 of a client that has used up its budget. */
export function failLimited({ resetMs }: Pick<Decision, "resetMs">) {
  const retry_after = toSeconds(resetMs);
  return failWithHeaders("rate_limited", { "retry-after": String(retry_after) }, { retry_after });
}

/** Sets the standard's headers (draft-ietf-httpapi-ratelimit-headers) and those of today's clients. */
export function setRateLimitHeaders(
  { status, headers }: Response,
  { windowMs, clock }: SearchLimit,
  decision: Decision,
): void {
  const { limit } = decision;
  // A fault may refuse what the limit has let through.
  const isFault = status === 429 && decision.allowed;
  const remaining = isFault ? 0 : decision.remaining;
  const resetMs = isFault ? 1000 * Number(headers.get("retry-after")) : decision.resetMs;
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
