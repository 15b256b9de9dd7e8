/** The fault injector: makes some requests fail or respond late, for testing clients. */
import { setTimeout } from "node:timers/promises";
import { createRandom, type Random } from "../community/random.ts";
import { type ErrorCode, errors } from "../domain/api.ts";
import { parseDuration } from "../domain/time.ts";
import { failLimited } from "./rate-limit.ts";
import { Content, fail, JSON_TYPE } from "./result.ts";
import type { Hook } from "./service.ts";

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
  /** The fault as it was given. */
  text: string;
  target: string;
  /** The status of the injected error, if there is one. */
  status: number | undefined;
  /** Whether to close the connection without a response. A HEAD request gets a 500 instead. */
  isClosing: boolean;
  delayMs: number;
  /** The fraction of requests that get this fault, above 0 and at most 1. */
  rate: number;
  /** How many requests get this fault before it stops. */
  times: number;
}

/** The `Retry-After` of an injected 429 or 503. It is short enough to wait for in a test. */
const RETRY_AFTER_MS = 1000;

const PART =
  /^(?:close|status=\d{3}|delay=\w+|rate=(?:0?\.\d*[1-9]\d*|1(?:\.0*)?)|times=[1-9]\d{0,8})$/;
const PARTS =
  "close, status=503, delay=200ms, rate=0.1 (above 0, at most 1) or times=2 (at least 1)";

/** Parses a fault such as `search:status=503,rate=0.1`, or throws a `RangeError`. */
export function parseFault(text: string): Fault {
  const [, target = "", list = ""] = /^([^:]*):?(.*)$/s.exec(text) ?? [];
  const covered = endpoints.filter((endpoint) => covers(target, endpoint));
  if (covered.length === 0) {
    throw wrongPart(target, "a target is search, profile, achievements, health or *");
  }
  const isDelay = (part: string) => part.startsWith("delay=");
  const isWrong = (part: string) =>
    !PART.test(part) || (isDelay(part) && !parseDuration(part.slice(6)));
  const wrong = list.split(",").find(isWrong);
  if (wrong !== undefined) throw wrongPart(wrong, `a part is ${PARTS}`);
  const given = Object.fromEntries(list.split(",").map((part) => part.split("=")));
  const { rate = 1, times = Number.POSITIVE_INFINITY } = given;
  const isClosing = "close" in given;
  const status = given.status && Number(given.status);
  const delayMs = (given.delay && parseDuration(given.delay)) || 0;
  if (isClosing ? status : !status && !delayMs) {
    throw new RangeError("must have either close or status, or only delay");
  }
  // Any 5xx status is allowed, because proxies add their own.
  const canFail = ({ errors }: Endpoint) => errors.has(status) || (status >= 500 && status <= 599);
  if (status && !covered.every(canFail)) {
    const problem = `${target} needs a 5xx status or one that the API returns for it`;
    throw wrongPart(`status=${status}`, problem);
  }
  return { text, target, status, isClosing, delayMs, rate: Number(rate), times: Number(times) };
}

function wrongPart(part: string, problem: string): RangeError {
  return new RangeError(`has the part ${JSON.stringify(part)}, but ${problem}`);
}

/** `*` omits /health, because programs wait for a healthy server before they start. */
function covers(target: string, endpoint: Endpoint): boolean {
  return target === endpoint.target || (target === "*" && endpoint.target !== "health");
}

/** Makes faults that can be replaced. Each has its own random sequence and count. */
export function createFaultInjector() {
  let drawn: { fault: Fault; random: Random; left: number }[] = [];

  const inject: Hook = async ({ route }) => {
    // The route may have /api, a host program's mount path, or both in front of the template.
    const endpoint = endpoints.find((known) => route.endsWith(known.route));
    if (!endpoint) return undefined;
    const due = drawn.filter(
      ({ fault, random, left }) =>
        left > 0 && covers(fault.target, endpoint) && random.chance(fault.rate),
    );
    let delayMs = 0;
    for (const one of due) {
      one.left--;
      delayMs += one.fault.delayMs;
    }
    if (delayMs > 0) await setTimeout(delayMs);
    const ending = due.find(({ fault }) => fault.isClosing || fault.status !== undefined)?.fault;
    if (!ending) return undefined;
    if (ending.status === undefined) return brokenResponse();
    return failWith(ending.status, endpoint.errors.get(ending.status));
  };

  return {
    inject,
    list: () => drawn.map(({ fault }) => fault.text),
    replace(faults: readonly Fault[], seed: number): void {
      drawn = faults.map((fault, index) => {
        return { fault, random: createRandom(seed, index), left: fault.times };
      });
    },
  };
}

function errorsOf(...codes: ErrorCode[]): Map<number, ErrorCode> {
  const all: ErrorCode[] = [...codes, "method_not_allowed", "unavailable"];
  return new Map(all.map((code) => [errors[code].status, code]));
}

function failWith(status: number, code: ErrorCode = "internal_error") {
  if (code === "rate_limited") return failLimited({ resetMs: RETRY_AFTER_MS });
  if (code === "method_not_allowed") return fail(code);
  const headers = status === 503 ? { "retry-after": String(RETRY_AFTER_MS / 1000) } : {};
  return new Content(JSON_TYPE, JSON.stringify(fail(code).response), { status, headers });
}

/**
 * Returns a response whose body fails immediately, so that the server closes the connection without
 * responding. The error has no reason, because Bun would print it.
 */
function brokenResponse(): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.error() }));
}
