/** Parses and formats durations such as 500ms, 1.5s, 2m, 1h and 7d. */

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
