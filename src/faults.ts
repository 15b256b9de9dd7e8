/**
 * The fault injector: makes selected requests fail or respond late, so that client developers can
 * test how their code copes. It does nothing unless faults are configured.
 */
import { setTimeout } from "node:timers/promises";
import { createRandom } from "./community/random.ts";
import { type ErrorCode, errors } from "./domain/error.ts";
import { failLimited } from "./http/rate-limit.ts";
import { methodNotAllowed } from "./http/response.ts";
import { Content, fail, JSON_TYPE } from "./http/result.ts";
import type { Hook } from "./http/service.ts";
import { integer, parseDuration, UsageError } from "./values.ts";

/**
 * The routes that each target covers. `*` omits /health, because programs wait for a healthy server
 * before they start.
 */
const routesOf = {
  search: ["/search/companies", "/search/users"],
  profile: ["/users/public/:userId"],
  achievements: ["/users/:userId/achievements"],
  health: ["/health"],
  "*": [
    "/search/users",
    "/search/companies",
    "/users/public/:userId",
    "/users/:userId/achievements",
  ],
};
const routes = [...routesOf["*"], ...routesOf.health];
const targets = Object.keys(routesOf) as (keyof typeof routesOf)[];

export interface Fault {
  target: keyof typeof routesOf;
  /** The status of the injected error, if there is one. */
  status: number | undefined;
  /** Whether to close the connection without a response. A HEAD request gets a 500 instead. */
  isClosing: boolean;
  delayMs: number;
  /** The delay differs from `delayMs` by up to this much, in either direction. */
  jitterMs: number;
  /** The fraction of requests that get this fault, above 0 and at most 1. */
  rate: number;
  /** How many requests get this fault before it stops. Unlimited if undefined. */
  times: number | undefined;
}

/** The `Retry-After` of an injected 429 or 503. It is short enough to wait for in a test. */
const RETRY_AFTER_MS = 1000;

const EXAMPLE = "as in search:status=503,rate=0.1";

const PARTS = ["status", "close", "delay", "jitter", "rate", "times"];

/** Parses a fault such as `search:status=503,rate=0.1`, or throws a `UsageError`. */
export function parseFault(text: string): Fault {
  const [, name, rest = ""] = /^\s*(.*?)\s*:(.*)$/s.exec(text) ?? [];
  const target = targets.find((one) => one === name);
  if (!target)
    throw new UsageError(
      `must start with a target (search, profile, achievements, health or *), as in search:close`,
    );
  const values = new Map<string, string | undefined>();
  for (const part of rest.split(",")) {
    const [name = "", value] = part.trim().split(/=(.*)/s);
    if (values.has(name)) throw new UsageError(`must have only one ${name}`);
    if (!PARTS.includes(name)) {
      throw new UsageError(
        `must list only status, close, delay, jitter, rate and times, ${EXAMPLE}`,
      );
    }
    values.set(name, value);
  }
  const has = (name: string) => values.has(name);
  if (values.get("close") !== undefined) throw new UsageError("must have close without a value");
  if (has("status") && has("close")) throw new UsageError("must have only one of status and close");
  if (!["status", "close", "delay"].some(has)) {
    throw new UsageError("must have a status, close or delay");
  }
  return {
    target,
    status: has("status") ? parseStatus(target, values.get("status")) : undefined,
    isClosing: has("close"),
    delayMs: has("delay") ? parseTime("delay", values.get("delay")) : 0,
    jitterMs: has("jitter") ? parseTime("jitter", values.get("jitter")) : 0,
    rate: has("rate") ? parseRate(values.get("rate")) : 1,
    times: has("times") ? times.parse(values.get("times") ?? "", {}) : undefined,
  };
}

/**
 * Throws a `UsageError` if the target cannot have this status. A 4xx status must be one that
 * every route of the target can return. Any 5xx status is allowed, because proxies add their own.
 */
export function checkStatus({ target, status }: Pick<Fault, "target" | "status">): void {
  const [first = [], ...others] = routesOf[target].map((route) =>
    codesOf(route).map((code): number => errors[code].status),
  );
  const known = first.filter(
    (one) => one < 500 && others.every((statuses) => statuses.includes(one)),
  );
  if (status === undefined || known.includes(status)) return;
  if (Number.isInteger(status) && status >= 500 && status <= 599) return;
  const list = [...new Set(known)].sort().join(", ");
  throw new UsageError(`must have a status of ${list} or 500 to 599 for ${target}`);
}

/**
 * Returns a hook that injects faults. Each fault gets its own random sequence from `seed`, and its
 * own count for `times`.
 */
export function createFaults(faults: readonly Fault[], seed: number): Hook {
  const drawn = faults.map((fault, index) => ({
    fault,
    random: createRandom(seed, index),
    left: fault.times ?? Number.POSITIVE_INFINITY,
  }));
  return async ({ route }) => {
    // The route may have /api, a host program's mount path, or both in front of the template.
    const template = routes.find((known) => route.endsWith(known)) ?? "";
    const due = drawn.filter(
      ({ fault, random, left }) =>
        left > 0 && routesOf[fault.target].includes(template) && random.chance(fault.rate),
    );
    for (const one of due) one.left--;
    if (due.length === 0) return undefined;
    const delayMs = due.reduce((sum, { fault: { delayMs, jitterMs }, random }) => {
      const jitter = jitterMs === 0 ? 0 : jitterMs * (2 * random.next() - 1);
      return sum + Math.max(0, delayMs + jitter);
    }, 0);
    if (delayMs > 0) await setTimeout(delayMs);
    const ending = due.find(({ fault }) => fault.isClosing || fault.status !== undefined)?.fault;
    if (!ending) return undefined;
    if (ending.status !== undefined) return failWith(ending.status, template) as never;
    return brokenResponse() as never;
  };
}

function parseStatus(target: Fault["target"], text = ""): number {
  const status = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  checkStatus({ target, status });
  return status;
}

function parseTime(name: string, text = ""): number {
  try {
    return parseDuration(text);
  } catch {
    throw new UsageError(`must have a ${name} from 1ms to 24d, such as 200ms`);
  }
}

function parseRate(text = ""): number {
  const rate = Number(text);
  if (/^\d*\.?\d+$/.test(text) && rate > 0 && rate <= 1) return rate;
  throw new UsageError("must have a rate above 0 and at most 1");
}

const times = integer(1, 1_000_000, "must have times from 1 to 1000000");

/** The codes of the errors that the API can return from a route. */
function codesOf(route: string): ErrorCode[] {
  const common: ErrorCode[] = ["method_not_allowed", "unavailable"];
  if (route.startsWith("/search/")) return ["invalid_query", "rate_limited", ...common];
  if (!route.startsWith("/users/")) return common;
  return ["invalid_user_id", "profile_private", "user_not_found", ...common];
}

/**
 * Returns the API's error for this status on this route. An unlisted 5xx is an `internal_error`.
 */
function failWith(status: number, route: string) {
  const code = codesOf(route).find((code) => errors[code].status === status) ?? "internal_error";
  if (code === "rate_limited") return failLimited({ resetMs: RETRY_AFTER_MS });
  if (code === "method_not_allowed") return methodNotAllowed;
  const headers = status === 503 ? { "retry-after": String(RETRY_AFTER_MS / 1000) } : {};
  return new Content(JSON_TYPE, JSON.stringify(fail(code).response), { status, headers });
}

/**
 * Returns a response whose body fails immediately, so that the server closes the connection without
 * responding. The error has no reason, because Bun would print it. For HEAD, Bun sends the head.
 */
function brokenResponse(): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.error() }));
}
