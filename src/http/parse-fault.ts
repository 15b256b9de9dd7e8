/**
 * The syntax of faults, such as `search:status=503,rate=0.1`, and what each may affect.
 * fault-injection.ts has the effects.
 */

import { InvalidValue } from "../domain/invalid-value.ts";
import { parseDuration } from "../domain/time.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";
import { type ErrorCode, errors, errorsOf } from "./error-codes.ts";

export interface Fault {
  /** As it was given. */
  text: string;
  target: string;
  delayMs: number;
  /** How the request ends after the delay: as usual, without a response, or with a status. */
  ending: "usual" | "close" | number;
  /** The share of requests that fail. */
  rate: number;
  /** The number of requests that fail at most. */
  times: number;
}

/** `none` means that no request fails, but faults can be set later. */
export type GivenFault = Fault | "none";

/** Parses a fault, or throws an {@link InvalidValue}. */
export function parseFault(text: string): GivenFault {
  if (text === "none") return text;
  const [, target = "", list = ""] = /^([^:]*):?(.*)$/s.exec(text) ?? [];

  const covered = Object.values(endpoints).filter((endpoint) => covers(target, endpoint));
  if (covered.length === 0) {
    throw wrongPart(target, "a target is search, profile, achievements, health or *");
  }

  const parts = parseParts(list);
  const { isClosing, status, delayMs = 0, rate = 1, times = Number.POSITIVE_INFINITY } = parts;

  const isOneEffect = isClosing ? !status : Boolean(status || delayMs);
  if (!isOneEffect) throw new InvalidValue("must have either close or status, or only delay");
  if (status && !covered.every((endpoint) => canFail(endpoint, status))) {
    const problem = `${target} needs a 5xx status or one that the API returns for it`;
    throw wrongPart(`status=${status}`, problem);
  }

  const ending = isClosing ? "close" : status || "usual";
  return { text, target, delayMs, ending, rate, times };
}

interface Effect extends Partial<Pick<Fault, "delayMs" | "rate" | "times">> {
  isClosing?: boolean;
  status?: number;
}

/** If a part is repeated, the first one counts. */
function parseParts(list: string): Effect {
  let parts: Effect = {};
  for (const text of list.split(",")) parts = { ...parsePart(text), ...parts };
  return parts;
}

function parsePart(part: string): Effect {
  const [, name, value = ""] = /^(\w+)(?:=(.*))?$/s.exec(part) ?? [];
  if (part === "close") return { isClosing: true };
  if (name === "status" && /^\d{3}$/.test(value)) return { status: Number(value) };
  if (name === "times" && /^[1-9]\d{0,8}$/.test(value)) return { times: Number(value) };
  if (name === "rate" && /^(?:0?\.\d*[1-9]\d*|1(?:\.0*)?)$/.test(value)) {
    return { rate: Number(value) };
  }

  const delayMs = name === "delay" && /^\w+$/.test(value) ? parseDuration(value) : undefined;
  if (delayMs) return { delayMs };
  throw wrongPart(
    part,
    "a part is close, status=503, delay=200ms, rate=0.1 (above 0, at most 1) or times=2 (at least 1)",
  );
}

function wrongPart(part: string, problem: string): InvalidValue {
  return new InvalidValue(`has the part ${JSON.stringify(part)}, but ${problem}`);
}

/** `*` omits /health, because programs wait for a healthy server before they start. */
export function covers(target: string, endpoint: Endpoint): boolean {
  return target === endpoint.target || (target === "*" && endpoint.target !== "health");
}

/** The code of the error with which an endpoint returns a status. */
export function codeFor({ kind }: Endpoint, status: number): ErrorCode | undefined {
  return errorsOf(kind).find((code) => errors[code].status === status);
}

/** Any 5xx status is allowed, because proxies add their own. */
export function canFail(endpoint: Endpoint, status: number): boolean {
  return (status >= 500 && status <= 599) || codeFor(endpoint, status) !== undefined;
}
