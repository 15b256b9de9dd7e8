/**
 * Times: RFC 3339 in, whole seconds since 1970 inside, ISO 8601 UTC with seconds and `Z` out.
 * Nothing here reads the clock.
 */

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** The calendar repeats after 400 years, and Date.UTC reads years below 100 as of another century. */
const SECONDS_IN_400_YEARS = 146_097 * 86_400;

const FIRST_SECOND = secondsAt(0, 1, 1, 0, 0, 0);
const LAST_SECOND = secondsAt(9999, 12, 31, 23, 59, 59);

/**
 * The seconds since 1970 of an RFC 3339 time (a date that exists, `Z` or an offset; fractions are
 * dropped), or undefined. A leap second has no Unix time and is refused.
 */
export function parseTime(text: string): number | undefined {
  if (!RFC3339.test(text)) return undefined;
  const [year, month, day] = [numberAt(text, 0, 4), numberAt(text, 5, 2), numberAt(text, 8, 2)];
  const [hour, minute, second] = [
    numberAt(text, 11, 2),
    numberAt(text, 14, 2),
    numberAt(text, 17, 2),
  ];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offset = offsetOf(text);
  if (offset === undefined) return undefined;
  const seconds = secondsAt(year, month, day, hour, minute, second) - offset;
  return seconds < FIRST_SECOND || seconds > LAST_SECOND ? undefined : seconds;
}

/** `2024-03-09T17:05:00Z` of seconds since 1970. */
export function formatTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** The seconds that a time is ahead of UTC; undefined for what no zone is. */
function offsetOf(text: string): number | undefined {
  if (/z$/i.test(text)) return 0;
  const [hours, minutes] = [numberAt(text, text.length - 5, 2), numberAt(text, text.length - 2, 2)];
  if (hours > 23 || minutes > 59) return undefined;
  return (text.at(-6) === "-" ? -60 : 60) * (hours * 60 + minutes);
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

function secondsAt(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number {
  const ms = Date.UTC(year + 400, month - 1, day, hour, minute, second);
  return ms / 1000 - SECONDS_IN_400_YEARS;
}

/** The number that `count` digits from `at` on are. A million users have some eight million of these. */
function numberAt(text: string, at: number, count: number): number {
  let number = 0;
  for (let index = at; index < at + count; index++) {
    number = number * 10 + text.charCodeAt(index) - 48;
  }
  return number;
}
