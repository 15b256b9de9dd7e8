/**
 * Times: RFC 3339 in, whole seconds since 1970 inside, ISO 8601 UTC with seconds and `Z` out.
 * Nothing here reads the clock.
 */

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|([+-])(\d\d):(\d\d))$/i;

const FIRST_SECOND = Date.UTC(2000, 0, 1) / 1000 - 730_485 * 86_400; // 0000-01-01T00:00:00Z
const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;

/**
 * The seconds since 1970 of an RFC 3339 time (a date that exists, `Z` or an offset; fractions are
 * dropped), or undefined. A leap second has no Unix time and is refused.
 */
export function parseTime(text: string): number | undefined {
  const match = RFC3339.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map(Number);
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const [offsetHour, offsetMinute] = [Number(match[8] ?? 0), Number(match[9] ?? 0)];
  if (offsetHour > 23 || offsetMinute > 59) return undefined;
  const offset = (match[7] === "-" ? -60 : 60) * (offsetHour * 60 + offsetMinute);
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset;
  return seconds < FIRST_SECOND || seconds > LAST_SECOND ? undefined : seconds;
}

/** `2024-03-09T17:05:00Z` of seconds since 1970. */
export function formatTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
