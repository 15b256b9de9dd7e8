/** The fault injector: makes some requests fail or respond late, for testing clients. */
import { setTimeout } from "node:timers/promises";
import { status as respondWith } from "elysia";
import { Random } from "../community/random.ts";
import { parseDuration } from "../domain/time.ts";
import type { FetchHandler } from "./app.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";
import { type ErrorCode, errors } from "./error-codes.ts";
import type { Hook } from "./hooks.ts";
import { failLimited } from "./rate-limit.ts";
import { busy, fail, ownErrors } from "./result.ts";

const all = Object.values(endpoints);

/** The `Retry-After` of an injected 429. It is short enough to wait for in a test. */
const RETRY_AFTER_MS = 1000;

const PART =
  /^(?:close|status=\d{3}|delay=\w+|rate=(?:0?\.\d*[1-9]\d*|1(?:\.0*)?)|times=[1-9]\d{0,8})$/;
const PARTS =
  "close, status=503, delay=200ms, rate=0.1 (above 0, at most 1) or times=2 (at least 1)";

export interface Fault {
  text: string;
  target: string;
  status: number | undefined;
  isClosing: boolean;
  delayMs: number;
  rate: number;
  times: number;
}

const ALWAYS = { rate: 1, times: Number.POSITIVE_INFINITY };

/** `--fault none`: no request fails, but faults can be set later. */
export const NO_FAULT: Fault = {
  text: "none",
  target: "none",
  status: undefined,
  isClosing: false,
  delayMs: 0,
  ...ALWAYS,
};

/** Parses a fault such as `search:status=503,rate=0.1`, or throws a `RangeError`. */
export function parseFault(text: string): Fault {
  if (text === NO_FAULT.text) return NO_FAULT;
  const [, target = "", effects = ""] = /^([^:]*):?(.*)$/s.exec(text) ?? [];
  const covered = all.filter((endpoint) => covers(target, endpoint));
  if (covered.length === 0) {
    throw wrongPart(target, "a target is search, profile, achievements, health or *");
  }

  const parts = effects.split(",");
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

  const rate = Number(given.get("rate") ?? ALWAYS.rate);
  const times = Number(given.get("times") ?? ALWAYS.times);
  return { text, target, status, isClosing, delayMs, rate, times };
}

function wrongPart(part: string, problem: string): RangeError {
  return new RangeError(`has the part ${JSON.stringify(part)}, but ${problem}`);
}

/** `*` omits /health, because programs wait for a healthy server before they start. */
function covers(target: string, endpoint: Endpoint): boolean {
  return target === endpoint.target || (target === "*" && endpoint.target !== "health");
}

/** Holds faults that can be replaced. Each has its own random sequence and count. */
export class FaultInjector {
  #drawn: { fault: Fault; random: Random; left: number }[] = [];

  readonly inject: Hook = async ({ route }) => {
    // The route may have /api, a host program's mount path, or both in front of the template.
    const endpoint = all.find((known) => route.endsWith(known.path));
    if (!endpoint) return;

    const due = this.#drawn.filter(({ fault, random, left }) => {
      return left > 0 && covers(fault.target, endpoint) && random.chance(fault.rate);
    });
    for (const one of due) one.left--;

    const delayMs = due.reduce((sum, { fault }) => sum + fault.delayMs, 0);
    if (delayMs > 0) await setTimeout(delayMs);

    const ending = due.find(({ fault }) => fault.isClosing || fault.status)?.fault;
    if (!ending) return;
    throw ending.status ? failWith(endpoint, ending.status) : brokenResponse();
  };

  list(): string[] {
    return this.#drawn.map(({ fault }) => fault.text);
  }

  replace(faults: readonly Fault[], seed: number): void {
    const effective = faults.filter((fault) => fault !== NO_FAULT);
    this.#drawn = effective.map((fault, index) => {
      return { fault, random: new Random(seed, index), left: fault.times };
    });
  }
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

const broken = new WeakSet<Response>();

/**
 * Returns a response whose body fails immediately, so that the server closes the connection without
 * responding. The error has no reason, because Bun would print it. A HEAD request gets a 500.
 */
function brokenResponse(): Response {
  const response = new Response(new ReadableStream({ start: (stream) => stream.error() }));
  broken.add(response);
  return response;
}

/**
 * Rejects for a closed connection, as the global `fetch` does, if the program itself calls it. If a
 * server calls it, which passes an object as `from`, the server closes the connection.
 */
export function rejectClosed(fetch: FetchHandler): FetchHandler {
  return async (request, from) => {
    const response = await fetch(request, from);
    const isServer = typeof from === "object" && from !== null;
    if (isServer || !broken.has(response)) return response;
    throw new TypeError("the connection was closed by an injected fault");
  };
}
