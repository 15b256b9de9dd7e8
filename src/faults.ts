/**
 * Faults for test rigs: which routes fail on purpose, how, and how often, so that authors of clients
 * see their code fail. Nothing here happens unless somebody asks for it.
 */
import { setTimeout } from "node:timers/promises";
import { InvalidValue, parseDuration } from "./commands/values.ts";
import { createRandom } from "./community/random.ts";
import { type ErrorCode, errors } from "./domain/error.ts";
import type { Interfere } from "./http/app.ts";
import { failLimited } from "./http/rate-limit.ts";
import { fail, type Result } from "./http/result.ts";

/** The routes of a fault by its name; `*` is the four endpoints, so that who waits for /health gets on. */
const routesOf = {
  search: ["searchCompanies", "searchUsers"],
  profile: ["getPublicUser"],
  achievements: ["listUserAchievements"],
  health: ["getHealth"],
  "*": ["searchCompanies", "searchUsers", "getPublicUser", "listUserAchievements"],
};
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

/** A 429 that is a fault asks for a wait that a test can afford. */
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
    status: has("status") ? parseStatus(values.get("status")) : undefined,
    isClosing: has("close"),
    delayMs: has("delay") ? parseTime("delay", values.get("delay")) : 0,
    jitterMs: has("jitter") ? parseTime("jitter", values.get("jitter")) : 0,
    rate: has("rate") ? parseRate(values.get("rate")) : 1,
  };
}

/** What befalls requests. Each fault draws from its own numbers: the same seed draws the same. */
export function createFaults(faults: readonly Fault[], seed: number): Interfere {
  const drawn = faults.map((fault, index) => ({ fault, random: createRandom(seed, index) }));
  return (route) => {
    const due = drawn.filter(
      ({ fault, random }) => routesOf[fault.target].includes(route) && random.chance(fault.rate),
    );
    if (due.length === 0) return undefined;
    const delayMs = due.reduce((sum, { fault: { delayMs, jitterMs }, random }) => {
      const jitter = jitterMs === 0 ? 0 : jitterMs * (2 * random.next() - 1);
      return sum + Math.max(0, delayMs + jitter);
    }, 0);
    const ending = due.find(({ fault }) => fault.isClosing || fault.status !== undefined)?.fault;
    const end = () => {
      if (ending?.status !== undefined) return failWith(ending.status, route);
      return ending && "close";
    };
    return delayMs > 0 ? setTimeout(delayMs).then(end) : end();
  };
}

/** Of 4xx what the API has; of 5xx all, as proxies have theirs. */
function parseStatus(text = ""): number {
  const status = Number(text);
  if (/^5\d\d$/.test(text) || (/^4\d\d$/.test(text) && codesOf(status).length > 0)) return status;
  throw new InvalidValue("a fault with status 400, 403, 404, 405, 429 or 500 to 599");
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

function codesOf(status: number): ErrorCode[] {
  return (Object.keys(errors) as ErrorCode[]).filter((code) => errors[code].status === status);
}

/** An error as the API has it; a status of a server's own that it does not have is an internal error. */
function failWith(status: number, route: string): Result {
  if (status === 429) return failLimited({ resetMs: RETRY_AFTER_MS });
  const codes = codesOf(status);
  const ofRoute = route.startsWith("search") ? "invalid_query" : "invalid_user_id";
  const code = codes.find((code) => code === ofRoute) ?? codes[0] ?? "internal_error";
  const headers = status === 503 ? { "retry-after": String(RETRY_AFTER_MS / 1000) } : {};
  return { ...fail(code), status, headers };
}
