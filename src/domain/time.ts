/**
 * Times: RFC 3339 in, whole seconds since 1970 inside, ISO 8601 UTC with seconds and `Z` out.
 * Nothing here reads the clock.
 */

/** All but which day of the month there is. A leap second has no Unix time. */
const RFC3339 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

const FIRST_SECOND = Date.parse("0000-01-01T00:00:00Z") / 1000;
const LAST_SECOND = Date.parse("9999-12-31T23:59:59Z") / 1000;

/** Years from 0 to 99 are those of the 20th century to Date.UTC, so it gets them one cycle later. */
const CYCLE_YEARS = 400;
const CYCLE_SECONDS = 146_097 * 86_400;

/**
 * The seconds since 1970 of an RFC 3339 time (a date that exists, `Z` or an offset; fractions are
 * dropped), or undefined. Date.parse would take 30 February, and three times as long.
 */
export function parseTime(text: string): number | undefined {
  if (!RFC3339.test(text)) return undefined;
  const year = 100 * twoDigits(text, 0) + twoDigits(text, 2);
  const month = twoDigits(text, 5) - 1;
  const day = twoDigits(text, 8);
  const time = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)] as const;
  const localMs = Date.UTC(year + CYCLE_YEARS, month, day, ...time);
  if (day > 28 && new Date(localMs).getUTCDate() !== day) return undefined;
  const seconds = localMs / 1000 - CYCLE_SECONDS - offsetOf(text);
  return seconds < FIRST_SECOND || seconds > LAST_SECOND ? undefined : seconds;
}

/** Why the day of a time does not exist, in brackets; empty if it exists or more than the day is wrong. */
export function findMissingDay(text: string): string {
  if (!RFC3339.test(text) || parseTime(text) !== undefined) return "";
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split("-").map(Number);
  // The 0th of the next month is the last day of this one. Years below 100 are others to Date.UTC.
  const last = new Date(Date.UTC(year + CYCLE_YEARS, month, 0));
  if (day <= last.getUTCDate()) return "";
  const name = last.toLocaleString("en", { month: "long", timeZone: "UTC" });
  return ` (${name} ${year} has ${last.getUTCDate()} days)`;
}

/** `2024-03-09T17:05:00Z` of seconds since 1970. */
export function formatTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** The seconds that a time is ahead of UTC. */
function offsetOf(text: string): number {
  if (/z$/i.test(text)) return 0;
  const minutes = 60 * twoDigits(text, text.length - 5) + twoDigits(text, text.length - 2);
  return (text.at(-6) === "-" ? -60 : 60) * minutes;
}

/** The number that two digits are; Number of a slice takes four times as long. */
function twoDigits(text: string, at: number): number {
  return 10 * text.charCodeAt(at) + text.charCodeAt(at + 1) - 11 * 48;
}
