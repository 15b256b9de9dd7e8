/**
 * The fault injector: makes selected requests fail or respond late, so that client developers can
 * test how their code copes. It does nothing unless faults are configured.
 */
import { setTimeout } from "node:timers/promises";
import { createRandom } from "./community/random.ts";
import { type ErrorCode, errors } from "./domain/error.ts";
import { parseDuration, UsageError } from "./flag-kinds.ts";
import { failLimited } from "./http/rate-limit.ts";
import { methodNotAllowed } from "./http/response.ts";
import { Content, fail, JSON_TYPE } from "./http/result.ts";
import type { Hook } from "./http/service.ts";

const user = errorsOf("invalid_user_id", "profile_private", "user_not_found");
const search = errorsOf("invalid_query", "rate_limited");
const endpoints = [
  { route: "/search/companies", target: "search", errors: search },
  { route: "/search/users", target: "search", errors: search },
  { route: "/users/public/:userId", target: "profile", errors: user },
  { route: "/users/:userId/achievements", target: "achievements", errors: user },
  { route: "/health", target: "health", errors: errorsOf() },
] as const;
type Endpoint = (typeof endpoints)[number];

export interface Fault {
  /** `*` omits /health, because programs wait for a healthy server before they start. */
  target: Endpoint["target"] | "*";
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

/** Parses a fault such as `search:status=503,rate=0.1`, or throws a `UsageError`. */
export function parseFault(text: string): Fault {
  const [, target = "", list = ""] = /^\s*(.*?)\s*:(.*)$/s.exec(text) ?? [];
  if (!/^(?:search|profile|achievements|health|\*)$/.test(target)) {
    refuse("start with a target (search, profile, achievements, health or *), as in search:close");
  }
  const given = new Map<string, Partial<Fault>>();
  for (const part of list.split(",")) {
    const [name = "", value] = part.trim().split(/=(.*)/s);
    if (given.has(name)) refuse(`have only one ${name}`);
    given.set(name, parsePart(name, value));
  }
  if (given.has("status") && given.has("close")) refuse("have only one of status and close");
  if (!["status", "close", "delay"].some((name) => given.has(name))) {
    refuse("have a status, close or delay");
  }
  const none = { status: undefined, isClosing: false, delayMs: 0, jitterMs: 0 };
  const fault = { target: target as Fault["target"], ...none, rate: 1, times: undefined };
  Object.assign(fault, ...given.values());
  checkStatus(fault);
  return fault;
}

function parsePart(name: string, text: string | undefined): Partial<Fault> {
  const number = /^\d*\.?\d+$/.test(text ?? "") ? Number(text) : Number.NaN;
  switch (name) {
    case "status":
      return { status: number };
    case "close":
      return text === undefined ? { isClosing: true } : refuse("have close without a value");
    case "delay":
    case "jitter":
      return {
        [`${name}Ms`]:
          parseDuration(text ?? "") ?? refuse(`have a ${name} from 1ms to 24d, such as 200ms`),
      };
    case "rate":
      if (number > 0 && number <= 1) return { rate: number };
      return refuse("have a rate above 0 and at most 1");
    case "times":
      if (/^[1-9]\d*$/.test(text ?? "") && number <= 1e6) return { times: number };
      return refuse("have times from 1 to 1000000");
    default:
      return refuse(
        "list only status, close, delay, jitter, rate and times, as in search:status=503,rate=0.1",
      );
  }
}

function refuse(wanted: string): never {
  throw new UsageError(`must ${wanted}`);
}

/**
 * Throws a `UsageError` if the target cannot have this status. A 4xx status must be one that
 * every route of the target can return. Any 5xx status is allowed, because proxies add their own.
 */
export function checkStatus({ target, status }: Pick<Fault, "target" | "status">): void {
  if (status === undefined || (Number.isInteger(status) && status >= 500 && status <= 599)) return;
  const covered = endpoints.filter((endpoint) => covers(target, endpoint));
  const known = [400, 403, 404, 405, 429].filter((each) =>
    covered.every(({ errors }) => errors.has(each)),
  );
  if (known.includes(status)) return;
  refuse(`have a status of ${known.join(", ")} or 500 to 599 for ${target}`);
}

function covers(target: Fault["target"], endpoint: Endpoint): boolean {
  return target === endpoint.target || (target === "*" && endpoint.target !== "health");
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
    const endpoint = endpoints.find((known) => route.endsWith(known.route));
    if (!endpoint) return undefined;
    const due = drawn.filter(
      ({ fault, random, left }) =>
        left > 0 && covers(fault.target, endpoint) && random.chance(fault.rate),
    );
    let delayMs = 0;
    for (const one of due) {
      const { fault, random } = one;
      one.left--;
      const jitter = fault.jitterMs === 0 ? 0 : fault.jitterMs * (2 * random.next() - 1);
      delayMs += Math.max(0, fault.delayMs + jitter);
    }
    if (delayMs > 0) await setTimeout(delayMs);
    const ending = due.find(({ fault }) => fault.isClosing || fault.status !== undefined)?.fault;
    if (!ending) return undefined;
    if (ending.status === undefined) return brokenResponse() as never;
    return failWith(ending.status, endpoint.errors.get(ending.status)) as never;
  };
}

/** Adds the errors that every route can return. */
function errorsOf(...codes: ErrorCode[]): Map<number, ErrorCode> {
  const all: ErrorCode[] = [...codes, "method_not_allowed", "unavailable"];
  return new Map(all.map((code) => [errors[code].status, code]));
}

/** An unlisted 5xx is an `internal_error`. */
function failWith(status: number, code: ErrorCode = "internal_error") {
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
