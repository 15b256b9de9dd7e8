/** Parses and formats RFC 3339 times, and durations such as 500ms, 1.5s and 2m. Never reads a clock. */

/**
 * Accepts 30 February, which is checked later. Rejects leap seconds, which have no Unix time. Has no
 * flags, because JSON Schema knows none.
 */
export const RFC3339 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

const FIRST_SECOND = Date.parse("0000-01-01T00:00:00Z") / 1000;
const LAST_SECOND = Date.parse("9999-12-31T23:59:59Z") / 1000;

/**
 * Added to every year passed to Date.UTC, which reads years 0 to 99 as 1900 to 1999. The calendar
 * repeats every 400 years.
 */
const CYCLE_YEARS = 400;
const CYCLE_SECONDS = 146_097 * 86_400;

/**
 * Parses an RFC 3339 time into whole seconds since 1970. Returns undefined for any other text, and
 * for a date that does not exist, such as 30 February, which Date.parse would accept.
 */
export function parseTime(text: string): number | undefined {
  if (!RFC3339.test(text)) return undefined;

  const year = 100 * twoDigits(text, 0) + twoDigits(text, 2) + CYCLE_YEARS;
  const month = twoDigits(text, 5) - 1;
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  const localMs = Date.UTC(year, month, day, hour, minute, second);
  if (day > 28 && new Date(localMs).getUTCDate() !== day) return undefined;

  const seconds = localMs / 1000 - CYCLE_SECONDS - offsetOf(text);
  return seconds < FIRST_SECOND || seconds > LAST_SECOND ? undefined : seconds;
}

/** Returns by how many seconds the local time is ahead of UTC. */
function offsetOf(text: string): number {
  if (/z$/i.test(text)) return 0;
  const end = text.length;
  const minutes = 60 * twoDigits(text, end - 5) + twoDigits(text, end - 2);
  return text.at(-6) === "-" ? -60 * minutes : 60 * minutes;
}

/** Formats seconds since 1970, for example as `2024-03-09T17:05:00Z`. */
export function formatTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** Parses two digits, without a string for them. */
function twoDigits(text: string, at: number): number {
  return 10 * text.charCodeAt(at) + text.charCodeAt(at + 1) - 11 * 48;
}

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Timers cannot wait much longer. */
export const MAX_DURATION_DAYS = 24;
const MAX_MS = MAX_DURATION_DAYS * 86_400_000;

/** Returns whole milliseconds. */
export function parseDuration(text: string): number | undefined {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  // 4.1 minutes are 245999.99999999997 ms in floating point.
  const ms = Number((Number(digits) * (unitMs[unit] ?? 0)).toFixed(6));
  return Number.isInteger(ms) && ms >= 1 && ms <= MAX_MS ? ms : undefined;
}

/** A number without a unit is in seconds. */
export function parseDurationOrSeconds(text: string): number | undefined {
  return parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
}

/** Writes whole milliseconds in the largest unit of which they are a whole number. */
export function formatDuration(ms: number): string {
  const [unit = "ms", size = 1] =
    Object.entries(unitMs).findLast(([, size]) => ms % size === 0) ?? [];
  return `${ms / size}${unit}`;
}
