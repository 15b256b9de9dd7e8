/**
 * A sliding window: at most `limit` requests of a client in any `windowMs`, exactly. Pure: the clock
 * is passed in, and may be any that counts milliseconds.
 */

export interface Decision {
  allowed: boolean;
  /** Requests left after this one. */
  remaining: number;
  /** Until one more is free than now. */
  resetMs: number;
}

export interface Window {
  /** Counts a request of `client` at `nowMs` when there is room for it; a refused one is not counted. */
  take(client: string, nowMs: number): Decision;
}

export function createWindow(limit: number, windowMs: number): Window {
  // The times of each client's requests, oldest first. The map's order is that of the last request,
  // so clients whose last request has left the window are at its front.
  const timesOf = new Map<string, number[]>();
  let latestMs = Number.NEGATIVE_INFINITY;

  function forget(nowMs: number): void {
    for (const [client, times] of timesOf) {
      if ((times.at(-1) ?? 0) + windowMs > nowMs) return;
      timesOf.delete(client);
    }
  }

  return {
    take(client, clockMs) {
      // A clock that goes back stands still here, so nothing leaves the window early.
      latestMs = Math.max(latestMs, clockMs);
      const nowMs = latestMs;
      forget(nowMs);
      const times = timesOf.get(client) ?? [];
      const firstInside = times.findIndex((time) => time + windowMs > nowMs);
      times.splice(0, firstInside < 0 ? times.length : firstInside);
      const allowed = times.length < limit;
      if (allowed) {
        times.push(nowMs);
        timesOf.delete(client);
        timesOf.set(client, times);
      }
      const resetMs = (times[0] ?? nowMs) + windowMs - nowMs;
      return { allowed, remaining: limit - times.length, resetMs };
    },
  };
}
