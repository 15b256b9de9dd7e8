/** Parses durations and RFC 3339 times, and formats times in UTC. Never reads the clock. */

/** Accepts 30 February, which is checked later. Rejects leap seconds, which have no Unix time. */
const RFC3339 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

const FIRST_MS = Date.parse("0000-01-01T00:00:00Z");
const END_MS = Date.parse("9999-12-31T23:59:59Z") + 1000;

/**
 * Parses an RFC 3339 time into whole seconds since 1970. Returns undefined for any other text, and
 * for a date that does not exist, such as 30 February, which Date.parse would accept.
 */
export function parseTime(text: string): number | undefined {
  if (!RFC3339.test(text)) return undefined;
  const day = text.slice(8, 10);
  if (day > "28" && new Date(`${text.slice(0, 10)}T00:00Z`).getUTCDate() !== Number(day)) {
    return undefined;
  }
  const ms = Date.parse(text);
  return ms < FIRST_MS || ms >= END_MS ? undefined : Math.floor(ms / 1000);
}

/** Formats seconds since 1970, for example as `2024-03-09T17:05:00Z`. */
export function formatTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns whole milliseconds, up to 24 days. Timers cannot wait much longer. */
export function parseDuration(text: string): number | undefined {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(digits) * (unitMs[unit] ?? 0);
  return Number.isInteger(ms) && ms >= 1 && ms <= 24 * 86_400_000 ? ms : undefined;
}
