/** The values of flags: each parser turns a text into a checked value. Never reads the environment. */
import { parseCidr as readCidr } from "../limit/client-address.ts";

/** Wrong usage: the message is for the operator, and the command exits with 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** What a parser throws: `message` says which value it wants, such as "a whole number from 0 to 9". */
export class InvalidValue extends Error {
  override name = "InvalidValue";
  /** The part of the text that is wrong, if not all. */
  value?: string;
}

/** Turns a text into a value, or throws an {@link InvalidValue}. The empty text is never valid. */
export interface Parser<T> {
  (text: string, previous: T): T;
  /** All the texts that it takes, where these are a few. */
  choices?: readonly string[];
}

/** Any text but none. */
export function parseNonEmpty(text: string): string {
  if (text !== "") return text;
  throw new InvalidValue("a value");
}

/** Any text, such as a file name. What starts with `--` is the next flag: the value was forgotten. */
export function parseText(text: string): string {
  if (!text.startsWith("--")) return parseNonEmpty(text);
  throw new InvalidValue(`a value; for a file of that name, write ./${text}`);
}

/** The least and the most of what is a whole number, as a flag and as an option of the library. */
export const bounds = {
  searchLimit: [0, 1_000_000],
  searchWindowMs: [1, 24 * 86_400_000],
  maxClients: [1, 2 ** 24],
  ipv6Prefix: [0, 128],
  cacheMaxAgeSeconds: [0, 31_536_000],
  faultSeed: [0, 0xffff_ffff],
} as const;

/** Decimal digits only, and no leading zero. */
export function parseInteger(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^(?:0|[1-9]\d*)$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidValue(`a whole number from ${least} to ${most}`);
  };
}

export const parsePort = parseInteger(0, 65_535);

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in milliseconds. */
export function parseDuration(text: string): number {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(digits) * (unitMs[unit] ?? 0);
  if (Number.isInteger(ms) && ms >= 1 && ms <= 24 * 86_400_000) return ms;
  throw new InvalidValue("a time of 1ms to 24d, such as 1h, 30m, 2s or 500ms");
}

/** A duration as an operator would write it. */
export function formatDuration(ms: number): string {
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

/** A URL that paths are appended to. */
export function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) return text;
  throw new InvalidValue("an http or https URL without query, such as https://example.org");
}

/** 1 or true, 0 or false: what a variable holds for a flag without a value. */
export function parseBoolean(text: string): boolean {
  if (/^(?:1|true)$/.test(text)) return true;
  if (/^(?:0|false)$/.test(text)) return false;
  throw new InvalidValue("1 or 0");
}

export function parseOneOf<const Choice extends string>(
  choices: readonly Choice[],
): Parser<Choice> {
  const parse = (text: string) => {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    throw new InvalidValue(`one of ${choices.join(", ")}`);
  };
  return Object.assign(parse, { choices });
}

/** Several values between separators; a flag that is given again adds to them. */
export function parseList<T>(parse: (text: string) => T, separator = ","): Parser<T[]> {
  return (text, previous) => [
    ...previous,
    ...text.split(separator).map((part) => {
      const value = part.trim();
      try {
        return parse(value);
      } catch (error) {
        if (error instanceof InvalidValue) error.value = value;
        throw error;
      }
    }),
  ];
}
