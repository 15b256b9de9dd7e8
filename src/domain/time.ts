/**
 * Times: RFC 3339 in, whole seconds since 1970 inside, ISO 8601 UTC with seconds and `Z` out.
 * Nothing here reads the clock.
 */

/** All but which day of the month there is. A leap second has no Unix time. */
const RFC3339 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** From 1 March of year 0, as {@link parseTime} counts, to 1970. */
const DAYS_TO_1970 = 719_468;

const FIRST_SECOND = Date.parse("0000-01-01T00:00:00Z") / 1000;
const LAST_SECOND = Date.parse("9999-12-31T23:59:59Z") / 1000;

/**
 * The seconds since 1970 of an RFC 3339 time (a date that exists, `Z` or an offset; fractions are
 * dropped), or undefined. By arithmetic: Date.parse takes three times as long, and 30 February.
 */
export function parseTime(text: string): number | undefined {
  if (!RFC3339.test(text)) return undefined;
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  // Counted from March, the leap day is a year's last, and so many days are before a month.
  const year = 100 * twoDigits(text, 0) + twoDigits(text, 2) - (month > 2 ? 0 : 1);
  const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
  const monthDays = Math.floor((153 * ((month + 9) % 12) + 2) / 5);
  const days = 365 * year + leapDays + monthDays + day - 1 - DAYS_TO_1970;
  const minutes = (days * 24 + twoDigits(text, 11)) * 60 + twoDigits(text, 14);
  const local = minutes * 60 + twoDigits(text, 17);
  if (day > 28 && new Date(local * 1000).getUTCDate() !== day) return undefined;
  const seconds = local - offsetOf(text);
  return seconds < FIRST_SECOND || seconds > LAST_SECOND ? undefined : seconds;
}

/** `2024-03-09T17:05:00Z` of seconds since 1970. */
export function formatTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** The seconds that a time is ahead of UTC. */
function offsetOf(text: string): number {
  if (text.endsWith("Z") || text.endsWith("z")) return 0;
  const minutes = 60 * twoDigits(text, text.length - 5) + twoDigits(text, text.length - 2);
  return (text.at(-6) === "-" ? -60 : 60) * minutes;
}

/** The number that two digits are. */
function twoDigits(text: string, at: number): number {
  return 10 * text.charCodeAt(at) + text.charCodeAt(at + 1) - 11 * 48;
}
