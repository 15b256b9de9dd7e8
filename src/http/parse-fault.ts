/**
 * The syntax of faults, such as `search:status=503,rate=0.1`, and what each may affect.
 * fault-injection.ts has the effects.
 */
import { InvalidValue } from "../domain/invalid-value.ts";
import { parseDuration } from "../domain/time.ts";
import { type Endpoint, type ErrorCode, endpoints, errors, errorsOf } from "./endpoints.ts";

export interface Fault {
  /** The text that was parsed. */
  text: string;
  target: string;
  /** The only user in whose requests it is injected. */
  userId: string | undefined;
  /** The shortest and the longest delay. */
  delayMs: readonly [number, number];
  /** How the request ends after the delay. A number is the status of an error. */
  ending: Ending | number | undefined;
  /** The share of requests that fail. */
  rate: number;
  /** The number of requests that fail at most. */
  times: number;
}

/** Without a response, with the first half of its body, or with a body that is not JSON. */
const endings = ["close", "truncate", "garbage"] as const;
type Ending = (typeof endings)[number];
const ENDINGS = "status, close, truncate and garbage";

/** `none` means that no request fails, but faults can be set later. */
export type GivenFault = Fault | "none";

/** Parses a fault, or throws an {@link InvalidValue}. */
export function parseFault(text: string): GivenFault {
  if (text === "none") return text;
  const [, place = "", list = ""] = /^([^:]*):?(.*)$/s.exec(text) ?? [];
  const [, target = place, userId] = /^(profile|achievements)\/([1-9]\d{0,15})$/.exec(place) ?? [];

  const covered = Object.values(endpoints).filter((endpoint) => covers(target, endpoint));
  if (covered.length === 0) {
    const targets = "search, users, companies, profile, profile/42, achievements, health or *";
    throw wrongPart(place, `a target is ${targets}`);
  }

  const parts: Partial<Fault> = {};
  for (const part of list.split(",")) {
    const parsed = parsePart(part);
    if (Object.keys(parsed).some((key) => key in parts)) {
      const problem = `a fault has only one delay, rate and times, and only one of ${ENDINGS}`;
      throw wrongPart(part, problem);
    }
    Object.assign(parts, parsed);
  }
  const { ending, delayMs, rate = 1, times = Number.POSITIVE_INFINITY } = parts;
  if (ending === undefined && !delayMs) {
    throw new InvalidValue(`must have one of ${ENDINGS}, or only delay`);
  }
  if (typeof ending === "number" && !covered.every((endpoint) => canFail(endpoint, ending))) {
    const problem = `${place} needs a 5xx status or one that the API returns for it`;
    throw wrongPart(`status=${ending}`, problem);
  }
  return { text, target, userId, delayMs: delayMs ?? [0, 0], ending, rate, times };
}

function parsePart(part: string): Partial<Fault> {
  const [, name, value = ""] = /^(\w+)(?:=(.*))?$/s.exec(part) ?? [];
  const ending = endings.find((one) => one === part);
  if (ending) return { ending };
  if (name === "status" && /^\d{3}$/.test(value)) return { ending: Number(value) };
  if (name === "times" && /^[1-9]\d{0,8}$/.test(value)) return { times: Number(value) };
  if (name === "rate" && /^(?:0?\.\d*[1-9]\d*|1(?:\.0*)?)$/.test(value)) {
    return { rate: Number(value) };
  }
  if (name === "delay") return { delayMs: parseDelay(part, value) };
  throw wrongPart(
    part,
    "a part is status=503, close, truncate, garbage, delay=200ms, rate=0.1 (above 0, at most 1) or times=2 (at least 1)",
  );
}

function parseDelay(part: string, value: string): readonly [number, number] {
  if (/^[\d.-]+$/.test(value)) throw wrongPart(part, "a delay has a unit, as in delay=200ms");
  const [, first = "", last = first] = /^([\w.]+)(?:-([\w.]+))?$/.exec(value) ?? [];
  const min = parseDuration(first);
  const max = parseDuration(last);
  if (min && max && min <= max) return [min, max];
  throw wrongPart(part, "a delay is a duration or two, as in delay=200ms or delay=50ms-2s");
}

function wrongPart(part: string, problem: string): InvalidValue {
  return new InvalidValue(`has the part ${JSON.stringify(part)}, but ${problem}`);
}

/** `*` omits /health, because programs wait for a healthy server before they start. */
export function covers(target: string, { target: own, tag }: Endpoint): boolean {
  if (target === "*") return tag !== "Service";
  return target === own || (target === "search" && tag === "Search");
}

/** The code of the error with which an endpoint returns a status. */
export function codeFor({ tag }: Endpoint, status: number): ErrorCode | undefined {
  const codes: readonly ErrorCode[] = errorsOf[tag];
  return codes.find((code) => errors[code].status === status);
}

/** Any 5xx status is allowed, because proxies add their own. */
function canFail(endpoint: Endpoint, status: number): boolean {
  return (status >= 500 && status <= 599) || codeFor(endpoint, status) !== undefined;
}
