/**
 * Faults for test rigs: which routes fail on purpose, how, and how often, so that authors of clients
 * see their code fail. Nothing here happens unless somebody asks for it.
 */
import { setTimeout } from "node:timers/promises";
import { createRandom } from "./community/random.ts";
import { type ErrorCode, errors } from "./domain/error.ts";
import { methodNotAllowed } from "./http/cors.ts";
import { failLimited } from "./http/rate-limit.ts";
import { type Content, failWithHeaders } from "./http/result.ts";
import type { Hook } from "./http/service.ts";
import { InvalidValue, parseDuration } from "./options.ts";

/** The routes of a fault by its name; `*` is the four endpoints, so that who waits for /health gets on. */
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
  /** The status of the error that is the response. */
  status: number | undefined;
  /** Whether the connection is closed without a response; a HEAD gets a 500. */
  isClosing: boolean;
  delayMs: number;
  /** The delay is so much shorter or longer at most. */
  jitterMs: number;
  /** The share of the requests that it befalls: above 0, up to 1. */
  rate: number;
}

/** The wait that a 429 or 503 on purpose names: one that a test can afford. */
const RETRY_AFTER_MS = 1000;

const EXAMPLE = "such as search:status=503,rate=0.1";

const PARTS = ["status", "close", "delay", "jitter", "rate"];

/** Reads a fault such as `search:status=503,rate=0.1`; throws an `InvalidValue`. */
export function parseFault(text: string): Fault {
  const [, name, rest = ""] = /^\s*(.*?)\s*:(.*)$/s.exec(text) ?? [];
  const target = targets.find((one) => one === name);
  if (!target) throw new InvalidValue(`a fault of ${targets.join(", ")}, ${EXAMPLE}`);
  const values = new Map<string, string | undefined>();
  for (const part of rest.split(",")) {
    const [name = "", value] = part.trim().split(/=(.*)/s);
    if (values.has(name)) throw new InvalidValue(`a fault with one ${name}`);
    if (!PARTS.includes(name)) {
      throw new InvalidValue(`a fault with status, close, delay, jitter and rate, ${EXAMPLE}`);
    }
    values.set(name, value);
  }
  const has = (name: string) => values.has(name);
  if (values.get("close") !== undefined) throw new InvalidValue("a fault whose close has no value");
  if (has("status") && has("close")) throw new InvalidValue("a fault with one of status and close");
  if (!["status", "close", "delay"].some(has)) {
    throw new InvalidValue("a fault with status, close or delay");
  }
  return {
    target,
    status: has("status") ? parseStatus(target, values.get("status")) : undefined,
    isClosing: has("close"),
    delayMs: has("delay") ? parseTime("delay", values.get("delay")) : 0,
    jitterMs: has("jitter") ? parseTime("jitter", values.get("jitter")) : 0,
    rate: has("rate") ? parseRate(values.get("rate")) : 1,
  };
}

/**
 * Throws an `InvalidValue` for a status that a target cannot have. For 4xx it has those of the API at all
 * its routes; for 5xx all, as proxies add theirs.
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
  throw new InvalidValue(`a fault of ${target} with status ${list} or 500 to 599`);
}

/** What befalls requests. Each fault draws from its own numbers: the same seed draws the same. */
export function createFaults(faults: readonly Fault[], seed: number): Hook {
  const drawn = faults.map((fault, index) => ({ fault, random: createRandom(seed, index) }));
  return async ({ route }) => {
    // A host and /api put prefixes before it.
    const template = routes.find((known) => route.endsWith(known)) ?? "";
    const due = drawn.filter(
      ({ fault, random }) => routesOf[fault.target].includes(template) && random.chance(fault.rate),
    );
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
  } catch (error) {
    throw new InvalidValue(String(error).replace(/^.*?: a time/, `a fault with ${name}`));
  }
}

function parseRate(text = ""): number {
  const rate = Number(text);
  if (/^\d*\.?\d+$/.test(text) && rate > 0 && rate <= 1) return rate;
  throw new InvalidValue("a fault with rate above 0, up to 1");
}

/** The errors that the API can return at a route. */
function codesOf(route: string): ErrorCode[] {
  const common: ErrorCode[] = ["method_not_allowed", "unavailable"];
  if (route.startsWith("/search/")) return ["invalid_query", "rate_limited", ...common];
  if (!route.startsWith("/users/")) return common;
  return ["invalid_user_id", "profile_private", "user_not_found", ...common];
}

/** The error that the API has at the route; a 5xx that it does not have is an internal error. */
function failWith(status: number, route: string): Content {
  const code = codesOf(route).find((code) => errors[code].status === status) ?? "internal_error";
  if (code === "rate_limited") return failLimited({ resetMs: RETRY_AFTER_MS });
  if (code === "method_not_allowed") return methodNotAllowed;
  const headers = status === 503 ? { "retry-after": String(RETRY_AFTER_MS / 1000) } : {};
  return failWithHeaders(code, headers, { status });
}

/**
 * Its body fails before its first byte, upon which a server closes the connection without a response;
 * without a reason, as Bun would print it each time. Bun sends the head of a HEAD all the same.
 */
function brokenResponse(): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.error() }));
}
