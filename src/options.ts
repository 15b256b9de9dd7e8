/**
 * The values that settings may have, the same for a flag of the command and for an option of the
 * library: bounds, and parsers that turn a text into a checked value.
 */
import { closest } from "fastest-levenshtein";
import { parseCidr as readCidr } from "./limit/client-address.ts";

/** Thrown by parsers: `message` is the value they expect, such as "a whole number from 0 to 9". */
export class InvalidValue extends Error {
  override name = "InvalidValue";
  /** The part of the text that is wrong, if not all. */
  value?: string;
}

/** The min and max of whole numbers, both as flags and as options of the library. */
export const bounds = {
  searchLimit: [0, 1_000_000],
  maxClients: [1, 2 ** 24],
  ipv6Prefix: [0, 128],
  faultSeed: [0, 0xffff_ffff],
} as const;

/** Throws a `TypeError` that names an option that does not exist, and the nearest one that does. */
export function checkNames(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`there is no option ${unknown}; the nearest is ${closest(unknown, known)}`);
}

/** Decimal digits only, and no leading zero. */
export function parseInteger(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^(?:0|[1-9]\d*)$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidValue(`a whole number from ${least} to ${most}`);
  };
}

export const parsePort = parseInteger(0, 65_535);

export const parseUserId = parseInteger(1, Number.MAX_SAFE_INTEGER);

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in milliseconds. */
export function parseDuration(text: string): number {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(digits) * (unitMs[unit] ?? 0);
  if (Number.isInteger(ms) && ms >= 1 && ms <= 24 * 86_400_000) return ms;
  throw new InvalidValue("a time of 1ms to 24d, such as 1h, 30m, 2s or 500ms");
}

/** A duration in milliseconds; a number without a unit is in seconds. */
export function parseTime(text: string): number {
  return parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
}

const parseSeconds = parseInteger(0, 31_536_000);

/** A duration in whole seconds; a number without a unit is in seconds, too. */
export function parseMaxAge(text: string): number {
  const seconds = /^\d+$/.test(text) ? parseSeconds(text) : parseDuration(text) / 1000;
  if (Number.isInteger(seconds)) return seconds;
  throw new InvalidValue("a time in whole seconds, such as 5m or 300");
}

/** A duration as an operator would write it. */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0";
  const [unit, length] = Object.entries(unitMs).findLast(([, one]) => ms % one === 0) ?? ["ms", 1];
  return `${ms / length}${unit}`;
}

export function parseCidr(text: string): string {
  try {
    readCidr(text);
    return text;
  } catch {
    throw new InvalidValue("an address or a CIDR, such as 10.0.0.0/8 or 2001:db8::/32");
  }
}

const MAX_TITLE_LENGTH = 60;

/** A name to show, on one line. */
export function parseTitle(text: string): string {
  const title = text.trim();
  const isShown = title !== "" && !/\p{Cc}/u.test(title);
  if (isShown && [...title].length <= MAX_TITLE_LENGTH) return title;
  throw new InvalidValue(`a name of 1 to ${MAX_TITLE_LENGTH} characters`);
}

/** A colour as `#rrggbb`. The `#` may be missing: in a shell without quotes it begins a comment. */
export function parseColour(text: string): string {
  const [, digits] = /^#?([0-9a-f]{6})$/i.exec(text) ?? [];
  if (digits !== undefined) return `#${digits.toLowerCase()}`;
  throw new InvalidValue("a colour such as #0a7d4f");
}

/** The path under which a server is mounted, without a slash at the end; empty for the root. */
export function parseBasePath(text: string): string {
  const path = text.replace(/\/+$/, "");
  if (/^(?:\/[\w.~-]*[\w~-])*$/.test(path)) return path;
  throw new InvalidValue("a path such as /rb");
}

/** A URL that paths are appended to. */
export function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) return text;
  throw new InvalidValue("an http or https URL without query, such as https://example.org");
}
