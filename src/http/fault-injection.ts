/** The fault injector: makes some requests fail or respond late, for testing clients. */
import { setTimeout } from "node:timers/promises";
import { status as respondWith } from "elysia";
import { createRandom, type Random } from "../community/random.ts";
import { parseDuration } from "../domain/time.ts";
import type { Hook } from "./context.ts";
import { type ErrorCode, errors } from "./error-codes.ts";
import { failLimited } from "./rate-limit.ts";
import { busy, fail, ownErrors } from "./result.ts";

const endpoints = [
  { route: "/search/companies", target: "search", tag: "Search" },
  { route: "/search/users", target: "search", tag: "Search" },
  { route: "/users/public/:userId", target: "profile", tag: "Users" },
  { route: "/users/:userId/achievements", target: "achievements", tag: "Users" },
  { route: "/health", target: "health", tag: "Service" },
] as const;
type Endpoint = (typeof endpoints)[number];

/** The `Retry-After` of an injected 429. It is short enough to wait for in a test. */
const RETRY_AFTER_MS = 1000;

const PART =
  /^(?:close|status=\d{3}|delay=\w+|rate=(?:0?\.\d*[1-9]\d*|1(?:\.0*)?)|times=[1-9]\d{0,8})$/;
const PARTS =
  "close, status=503, delay=200ms, rate=0.1 (above 0, at most 1) or times=2 (at least 1)";

export type Fault = ReturnType<typeof parseFault>;

/** Parses a fault such as `search:status=503,rate=0.1`, or throws a `RangeError`. */
export function parseFault(text: string) {
  const [, target = "", list = ""] = /^([^:]*):?(.*)$/s.exec(text) ?? [];
  const covered = endpoints.filter((endpoint) => covers(target, endpoint));
  if (covered.length === 0) {
    throw wrongPart(target, "a target is search, profile, achievements, health or *");
  }
  const parts = list.split(",");
  const isWrong = (part: string) =>
    !PART.test(part) || (part.startsWith("delay=") && !parseDuration(part.slice(6)));
  const wrong = parts.find(isWrong);
  if (wrong !== undefined) throw wrongPart(wrong, `a part is ${PARTS}`);
  const given = new URLSearchParams(parts.join("&"));
  const isClosing = given.has("close");
  const status = Number(given.get("status")) || undefined;
  const delayMs = parseDuration(given.get("delay") ?? "") ?? 0;
  if (isClosing ? status : !status && !delayMs) {
    throw new RangeError("must have either close or status, or only delay");
  }
  // Any 5xx status is allowed, because proxies add their own.
  const canFail = (endpoint: Endpoint) => status && (status >= 500 || codeFor(endpoint, status));
  if (status && (status > 599 || !covered.every(canFail))) {
    const problem = `${target} needs a 5xx status or one that the API returns for it`;
    throw wrongPart(`status=${status}`, problem);
  }
  const rate = Number(given.get("rate") ?? 1);
  const times = Number(given.get("times") ?? Number.POSITIVE_INFINITY);
  return { text, target, status, isClosing, delayMs, rate, times };
}

function wrongPart(part: string, problem: string): RangeError {
  return new RangeError(`has the part ${JSON.stringify(part)}, but ${problem}`);
}

/** `*` omits /health, because programs wait for a healthy server before they start. */
function covers(target: string, endpoint: Endpoint): boolean {
  return target === endpoint.target || (target === "*" && endpoint.target !== "health");
}

export type FaultInjector = ReturnType<typeof createFaultInjector>;

/** Makes faults that can be replaced. Each has its own random sequence and count. */
export function createFaultInjector() {
  let drawn: { fault: Fault; random: Random; left: number }[] = [];

  const inject: Hook = async ({ route }) => {
    // The route may have /api, a host program's mount path, or both in front of the template.
    const endpoint = endpoints.find((known) => route.endsWith(known.route));
    if (!endpoint) return;
    const due = drawn.filter(({ fault, random, left }) => {
      return left > 0 && covers(fault.target, endpoint) && random.chance(fault.rate);
    });
    for (const one of due) one.left--;
    const delayMs = due.reduce((sum, { fault }) => sum + fault.delayMs, 0);
    if (delayMs > 0) await setTimeout(delayMs);
    const ending = due.find(({ fault }) => fault.isClosing || fault.status)?.fault;
    if (!ending) return;
    throw ending.status ? failWith(endpoint, ending.status) : brokenResponse();
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

function codeFor({ tag }: Endpoint, status: number): ErrorCode | undefined {
  const codes: ErrorCode[] = [...ownErrors[tag], "method_not_allowed"];
  return codes.find((code) => errors[code].status === status);
}

function failWith(endpoint: Endpoint, status: number) {
  if (status === 503) return busy;
  const code = codeFor(endpoint, status) ?? "internal_error";
  if (code === "rate_limited") return failLimited({ resetMs: RETRY_AFTER_MS });
  return respondWith(status, fail(code).response);
}

/**
 * Returns a response whose body fails immediately, so that the server closes the connection without
 * responding. The error has no reason, because Bun would print it. A HEAD request gets a 500.
 */
function brokenResponse(): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.error() }));
}
