/** Bounds and parsers for settings, shared by the command's flags and the library's options. */
import { closest } from "fastest-levenshtein";
import { parseCidr as readCidr } from "./limit/client-address.ts";

/**
 * Reports incorrect usage, for which a command exits with 2. The message is for the operator. A
 * parser throws it without the setting's name, as in "must be 1 or 0".
 */
export class UsageError extends Error {
  override name = "UsageError";
  /** The invalid part of the text, if only part of the text is invalid. */
  value?: string;
  /** Whether the text may contain a secret, and so must not be repeated. */
  isSecret?: boolean;
  /** Advice to show after the message. */
  hint?: string;
}

/** The minimum and maximum of each whole-number setting. */
export const bounds = {
  searchLimit: [0, 1_000_000],
  maxClients: [1, 2 ** 24],
  ipv6Prefix: [0, 128],
  faultSeed: [0, 0xffff_ffff],
} as const;

/** Throws a `TypeError` for an unknown option and suggests the most similar known name. */
export function checkNames(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`unknown option ${unknown}; did you mean ${closest(unknown, known)}?`);
}

/** Returns a parser that accepts only decimal digits without a leading zero. */
export function parseInteger(
  min: number,
  max: number,
  message = `must be a whole number from ${min} to ${max}`,
): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^(?:0|[1-9]\d*)$/.test(text) && value >= min && value <= max) return value;
    throw new UsageError(message);
  };
}

export const parsePort = parseInteger(0, 65_535);

/** Parses one id from a list. */
export const parseUserId = parseInteger(
  1,
  Number.MAX_SAFE_INTEGER,
  "must be a list of user ids, such as 1,2,3",
);

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration and returns milliseconds. */
export function parseDuration(text: string): number {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(digits) * (unitMs[unit] ?? 0);
  if (Number.isInteger(ms) && ms >= 1 && ms <= 24 * 86_400_000) return ms;
  throw new UsageError("must be a duration from 1ms to 24d, such as 1h, 30m, 2s or 500ms");
}

/** Parses a duration and returns milliseconds. A number without a unit is in seconds. */
export function parseTime(text: string): number {
  return parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
}

const parseSeconds = parseInteger(0, 31_536_000);

/** Parses a duration and returns whole seconds. A number without a unit is in seconds. */
export function parseMaxAge(text: string): number {
  const seconds = /^\d+$/.test(text) ? parseSeconds(text) : parseDuration(text) / 1000;
  if (Number.isInteger(seconds)) return seconds;
  throw new UsageError("must be a duration in whole seconds, such as 5m or 300");
}

/** Formats a duration the way an operator would write it. */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0";
  const [unit, length] = Object.entries(unitMs).findLast(([, unitMs]) => ms % unitMs === 0) ?? [
    "ms",
    1,
  ];
  return `${ms / length}${unit}`;
}

export function parseCidr(text: string): string {
  try {
    readCidr(text);
    return text;
  } catch {
    throw new UsageError("must be an IP address or a CIDR, such as 10.0.0.0/8 or 2001:db8::/32");
  }
}

/** Parses the URL of a Redis or Valkey server, which may contain a password. */
export function parseStoreUrl(text: string): string {
  const isUrl = /^(?:rediss?|valkey):\/\/[^/?#]+(?:\/\d{0,4})?$/.test(text) && URL.canParse(text);
  if (isUrl) return text;
  const error = new UsageError("must be a redis://, rediss:// or valkey:// URL");
  throw Object.assign(error, { isSecret: true });
}

const MAX_TITLE_LENGTH = 60;

/** Parses a title that is shown on one line. */
export function parseTitle(text: string): string {
  const title = text.trim();
  const isVisible = title !== "" && !/\p{Cc}/u.test(title);
  if (isVisible && [...title].length <= MAX_TITLE_LENGTH) return title;
  throw new UsageError(`must be a name of 1 to ${MAX_TITLE_LENGTH} characters`);
}

/** Returns a colour as `#rrggbb`. Input may omit the `#`, which starts a comment in shells. */
export function parseColour(text: string): string {
  const [, digits] = /^#?([0-9a-f]{6})$/i.exec(text) ?? [];
  if (digits !== undefined) return `#${digits.toLowerCase()}`;
  throw new UsageError("must be a colour such as #0a7d4f");
}

/** Parses the path where a server is mounted. Drops a trailing slash, so the root becomes empty. */
export function parseBasePath(text: string): string {
  const path = text.replace(/\/+$/, "");
  if (/^(?:\/[\w.~-]*[\w~-])*$/.test(path)) return path;
  throw new UsageError("must be a path such as /rb");
}

/** Parses an absolute URL to which paths can be appended. */
export function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) return text;
  throw new UsageError("must be an http or https URL without a query, such as https://example.org");
}
