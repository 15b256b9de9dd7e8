/** Parsing RFC 3339 times, whose dates must exist, and formatting them in UTC. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { PublicUserLine } from "../../src/domain/model.ts";
import { formatDuration, formatTime, parseDuration, parseTime } from "../../src/domain/time.ts";
import { runs } from "../runs.ts";

const first = Date.UTC(2000, 0, 1) / 1000 - 730_485 * 86_400;
const last = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;

test("any time from year 0 to 9999 stays the same when it is formatted and then parsed", () => {
  expect([formatTime(first), formatTime(last)]).toEqual([
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
  ]);
  fc.assert(
    fc.property(fc.integer({ min: first, max: last }), (seconds) => {
      expect(parseTime(formatTime(seconds))).toBe(seconds);
    }),
  );
});

test("a date is valid if and only if it exists in the calendar", () => {
  const part = (max: number, width: number) =>
    fc.integer({ min: 0, max }).map((number) => String(number).padStart(width, "0"));
  fc.assert(
    fc.property(part(9999, 4), part(14, 2), part(33, 2), (year, month, day) => {
      const date = new Date(0);
      date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
      const isReal = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
      const seconds = parseTime(`${year}-${month}-${day}T12:30:00Z`);
      expect(seconds).toBe(isReal ? date.getTime() / 1000 + 45_000 : undefined);
    }),
    { numRuns: runs(500) },
  );
});

test.each([
  ["2024-03-09T17:05:00Z", "2024-03-09T17:05:00Z"],
  ["2024-03-09t17:05:00.999999z", "2024-03-09T17:05:00Z"],
  ["2024-03-09T17:05:00+01:30", "2024-03-09T15:35:00Z"],
  ["2024-02-29T23:59:59-00:01", "2024-03-01T00:00:59Z"],
  ["0000-01-01T00:00:00-00:01", "0000-01-01T00:01:00Z"],
])("%s is %s in UTC", (text, utc) => {
  expect(formatTime(parseTime(text) ?? 0)).toBe(utc);
});

test.each([
  "",
  "2024-03-09",
  "2024-03-09T17:05:00",
  "2024-03-09 17:05:00Z",
  "2024-03-09T24:00:00Z",
  "2016-12-31T23:59:60Z",
  "2023-02-29T00:00:00Z",
  "2024-03-09T17:05:00+24:00",
  "2024-03-09T17:05:00+0100",
  "0000-01-01T00:00:00+00:01",
  "9999-12-31T23:59:59-00:01",
  "2024-03-09T17:05:00Z ",
  "２024-03-09T17:05:00Z",
])("%j is not a valid time", (text) => {
  expect(parseTime(text)).toBeUndefined();
});

test("a duration may have decimals", () => {
  expect(["4.1m", "0.7d", "1.5ms", "0.0001s"].map(parseDuration)).toEqual([
    246_000,
    60_480_000,
    undefined,
    undefined,
  ]);
});

test.each(["1ms", "1500ms", "90s", "1m", "90m", "1h", "7d"])(
  "formats %s as it is parsed",
  (text) => {
    expect(formatDuration(parseDuration(text) ?? 0)).toBe(text);
  },
);

test("the JSON Schema has the pattern by which times are parsed", () => {
  const pattern = new RegExp(PublicUserLine.properties.created_at.pattern);
  for (const time of [
    "2024-03-09T17:05:00Z",
    "2024-03-09t17:05:00.5z",
    "2024-03-09T17:05:00+05:30",
  ]) {
    expect(time).toMatch(pattern);
  }
  for (const time of [
    "2024-13-09T17:05:00Z",
    "2024-03-09T24:00:00Z",
    "2024-03-09T17:05:00+24:00",
  ]) {
    expect(time).not.toMatch(pattern);
  }
});
