/** Parses durations such as 500ms, 1.5s, 2m, 1h and 7d. */

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns whole milliseconds, up to 24 days. Timers cannot wait much longer. */
export function parseDuration(text: string): number | undefined {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  // 4.1 minutes are 245999.99999999997 ms in floating point.
  const ms = Number((Number(digits) * (unitMs[unit] ?? 0)).toFixed(6));
  return Number.isInteger(ms) && ms >= 1 && ms <= 24 * 86_400_000 ? ms : undefined;
}
