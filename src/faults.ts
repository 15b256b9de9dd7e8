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
import { integer, parseDuration, UsageError } from "./setting-kinds.ts";

const search = ["/search/companies", "/search/users"];
const profile = ["/users/public/:userId"];
const achievements = ["/users/:userId/achievements"];
const health = ["/health"];
const endpoints = [...search, ...profile, ...achievements];
const routes = [...endpoints, ...health];
/**
 * The routes that each target covers. `*` omits /health, because programs wait for a healthy server
 * before they start.
 */
const routesOf = { search, profile, achievements, health, "*": endpoints };

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

const noFault = {
  status: undefined,
  isClosing: false,
  delayMs: 0,
  jitterMs: 0,
  rate: 1,
  times: undefined,
};

/** The `Retry-After` of an injected 429 or 503. It is short enough to wait for in a test. */
const RETRY_AFTER_MS = 1000;

/** Parses a fault such as `search:status=503,rate=0.1`, or throws a `UsageError`. */
export function parseFault(text: string): Fault {
  const [, target = "", list = ""] = /^\s*(.*?)\s*:(.*)$/s.exec(text) ?? [];
  if (!isTarget(target)) {
    const wanted = "a target (search, profile, achievements, health or *)";
    throw new UsageError(`must start with ${wanted}, as in search:close`);
  }
  const fault: Fault = { target, ...noFault };
  const names = new Set<string>();
  for (const part of list.split(",")) {
    const [name = "", value] = part.trim().split(/=(.*)/s);
    if (names.has(name)) throw new UsageError(`must have only one ${name}`);
    names.add(name);
    const parse = Object.hasOwn(parts, name) ? parts[name] : undefined;
    if (!parse) {
      const wanted = "status, close, delay, jitter, rate and times";
      throw new UsageError(`must list only ${wanted}, as in search:status=503,rate=0.1`);
    }
    Object.assign(fault, parse(value));
  }
  if (fault.status === undefined && !fault.isClosing && !names.has("delay")) {
    throw new UsageError("must have a status, close or delay");
  }
  if (fault.status !== undefined && fault.isClosing) {
    throw new UsageError("must have only one of status and close");
  }
  checkStatus(fault);
  return fault;
}

const parts: Record<string, (text?: string) => Partial<Fault>> = {
  status: (text = "") => ({ status: /^\d+$/.test(text) ? Number(text) : Number.NaN }),
  close(text) {
    if (text !== undefined) throw new UsageError("must have close without a value");
    return { isClosing: true };
  },
  delay: (text) => ({ delayMs: parseTime("delay", text) }),
  jitter: (text) => ({ jitterMs: parseTime("jitter", text) }),
  rate(text = "") {
    const rate = Number(text);
    if (/^\d*\.?\d+$/.test(text) && rate > 0 && rate <= 1) return { rate };
    throw new UsageError("must have a rate above 0 and at most 1");
  },
  times: (text = "") => ({ times: times.parse(text, {}) }),
};

const times = integer(1, 1_000_000, "must have times from 1 to 1000000");

function parseTime(name: string, text = ""): number {
  try {
    return parseDuration(text);
  } catch {
    throw new UsageError(`must have a ${name} from 1ms to 24d, such as 200ms`);
  }
}

const isTarget = (name: string): name is Fault["target"] => Object.hasOwn(routesOf, name);

/**
 * Throws a `UsageError` if the target cannot have this status. A 4xx status must be one that
 * every route of the target can return. Any 5xx status is allowed, because proxies add their own.
 */
export function checkStatus({ target, status }: Pick<Fault, "target" | "status">): void {
  if (status === undefined || (Number.isInteger(status) && status >= 500 && status <= 599)) return;
  const known = routesOf[target]
    .map((route) => new Set(codesOf(route).map((code): number => errors[code].status)))
    .reduce((common, statuses) => common.intersection(statuses));
  known.delete(errors.unavailable.status);
  if (known.has(status)) return;
  const list = [...known].sort().join(", ");
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
