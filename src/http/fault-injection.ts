/** The fault injector: makes some requests fail or respond late, for testing clients. */
import { setTimeout } from "node:timers/promises";
import { ElysiaCustomStatusResponse, status as respondWith } from "elysia";
import { Random } from "../domain/random.ts";
import type { LimitPolicy } from "../limit/limiter.ts";
import type { AppOptions, Hook } from "./app-options.ts";
import { Content } from "./content.ts";
import { dropConnection } from "./dropped-connection.ts";
import { type Endpoint, endpointOf } from "./endpoints.ts";
import { busy, errorContent, fail } from "./errors.ts";
import { codeFor, covers, type Fault, type GivenFault } from "./parse-fault.ts";
import { failLimited, limitHeadersOf } from "./rate-limit.ts";
import { contentOf } from "./response.ts";

/** The `Retry-After` of an injected 429. It is short enough to wait for in a test. */
const RETRY_AFTER_MS = 1000;

/** Looks like the page of a proxy, sent as JSON. */
const GARBAGE = "<html><h1>502 Bad Gateway</h1></html>";

interface InjectorOptions {
  /** The limit that the headers of an injected 429 show. */
  policy: LimitPolicy;
  unixClock: AppOptions["unixClock"];
  closed: AbortSignal;
}

/** Holds faults that can be replaced. Each has its own random sequence and count. */
export function createInjector({ policy, unixClock, closed }: InjectorOptions) {
  let drawn: { fault: Fault; random: Random; left: number }[] = [];

  function failWith(endpoint: Endpoint, status: number) {
    if (status === 503) return busy;
    const code = codeFor(endpoint, status) ?? "internal_error";
    if (code !== "rate_limited") return respondWith(status, fail(code).response);

    // Looks like the limit's own, also to a client whose searches are not counted.
    const state = { remaining: 0, resetMs: RETRY_AFTER_MS };
    const headers = limitHeadersOf(policy, state, unixClock());
    return errorContent(failLimited(state), { headers });
  }

  const inject: Hook = async ({ request, route, params, responseValue }) => {
    if (closed.aborted) return fail("unavailable");
    const endpoint = endpointOf(route);
    // A browser's preflight, for example, is no use of the endpoint.
    const isUse = request.method === "GET" || request.method === "HEAD";
    if (!endpoint || !isUse || isRefused(responseValue)) return undefined;

    const due = drawn.filter(({ fault, random, left }) => {
      const isTarget =
        covers(fault.target, endpoint) && [undefined, params?.userId].includes(fault.userId);
      return left > 0 && isTarget && random.chance(fault.rate);
    });
    let delayMs = 0;
    for (const one of due) {
      const [min, max] = one.fault.delayMs;
      delayMs += min + (max - min) * one.random.next();
      one.left--;
    }
    if (delayMs > 0) await setTimeout(delayMs);
    if (closed.aborted) return fail("unavailable");

    const ending = due.find(({ fault }) => fault.ending !== undefined)?.fault.ending;
    if (ending === undefined) return undefined;
    if (ending === "close") return dropConnection();
    if (typeof ending === "number") return failWith(endpoint, ending);

    const { type, body, options } = contentOf(responseValue);
    const text = String(body);
    const damaged = ending === "garbage" ? GARBAGE : text.slice(0, text.length / 2);
    return new Content(type, damaged, { ...options, cache: undefined });
  };

  return {
    inject,
    list: () => drawn.map(({ fault }) => fault.text),
    replace(faults: readonly GivenFault[], seed: number): void {
      const effective = faults.filter((fault) => fault !== "none");
      drawn = effective.map((fault, index) => {
        return { fault, random: new Random(seed, index), left: fault.times };
      });
    },
  };
}

/** Whether a search ended before it began, because of the limit or its query. */
function isRefused(result: unknown): boolean {
  return result instanceof ElysiaCustomStatusResponse && [400, 429].includes(Number(result.code));
}
