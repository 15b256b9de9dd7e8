/**
 * Keeps each turn of the event loop short. Bun accepts a connection, reads its request and sends the
 * response before it accepts the next, for as long as there is a next: clients that connect anew for
 * each request, on other cores, kept it from timers, signals and open connections for 9,000 requests.
 */

/** From the first response of a turn on, so many milliseconds; then responses wait for the next. */
const MAX_TURN_MS = 20;
/** From then on it is worth knowing who asks, which costs a microsecond. */
const WATCHED_MS = MAX_TURN_MS / 2;

/**
 * What a request has to wait for, or undefined when it can be responded to at once. Who waits cannot
 * connect anew, and so the turn ends.
 *
 * Of requests that a client has pipelined none may wait, since Bun closes a connection on which one
 * comes behind another that has no response yet. They come right after each other from one port.
 */
export function createTurns(): (portOf: () => number | undefined) => Promise<void> | undefined {
  let startMs: number | undefined;
  let lastPort: number | undefined;
  let nextTurn: Promise<void> | undefined;

  return (portOf) => {
    const now = performance.now();
    if (startMs === undefined) {
      startMs = now;
      setImmediate(() => {
        startMs = undefined;
        lastPort = undefined;
        nextTurn = undefined;
      });
    }
    if (now - startMs < WATCHED_MS) return undefined;
    const port = portOf();
    const isPipelined = port !== undefined && port === lastPort;
    lastPort = port;
    if (isPipelined || now - startMs < MAX_TURN_MS) return undefined;
    nextTurn ??= new Promise((resolve) => setImmediate(resolve));
    return nextTurn;
  };
}
