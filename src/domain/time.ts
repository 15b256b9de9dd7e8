/**
 * Times: RFC 3339 in, whole seconds since 1970 inside, ISO 8601 UTC with seconds and `Z` out.
 * Nothing here reads the clock.
 */

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** From 1 March of year 0, as {@link secondsAt} counts, to 1970. */
const DAYS_TO_1970 = 719_468;

const FIRST_SECOND = secondsAt(0, 1, 1, 0, 0, 0);
const LAST_SECOND = secondsAt(9999, 12, 31, 23, 59, 59);

/**
 * The seconds since 1970 of an RFC 3339 time (a date that exists, `Z` or an offset; fractions are
 * dropped), or undefined. A leap second has no Unix time and is refused.
 */
export function parseTime(text: string): number | undefined {
  if (!RFC3339.test(text)) return undefined;
  const year = 100 * twoDigits(text, 0) + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
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
  if (text.endsWith("Z") || text.endsWith("z")) return 0;
  const [hours, minutes] = [twoDigits(text, text.length - 5), twoDigits(text, text.length - 2)];
  if (hours > 23 || minutes > 59) return undefined;
  return (text.at(-6) === "-" ? -60 : 60) * (hours * 60 + minutes);
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** By arithmetic: Date.UTC takes twice as long, and reads years below 100 as of another century. */
function secondsAt(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number {
  // Counted from March, the leap day is a year's last, and so many days are before a month.
  const years = month > 2 ? year : year - 1;
  const months = month > 2 ? month - 3 : month + 9;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  const days = 365 * years + leapDays + Math.floor((153 * months + 2) / 5) + day - 1;
  return (((days - DAYS_TO_1970) * 24 + hour) * 60 + minute) * 60 + second;
}

/** The number that two digits are. */
function twoDigits(text: string, at: number): number {
  return 10 * text.charCodeAt(at) + text.charCodeAt(at + 1) - 11 * 48;
}
