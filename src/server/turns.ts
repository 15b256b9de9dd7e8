/**
 * Keeps each turn of the event loop short, whatever one client sends.
 *
 * The trap: Bun responds to all pipelined requests that it has read, and to all connections that
 * are waiting to be accepted, in a single turn of its event loop. Timers, signals and requests of
 * other clients wait until that turn ends, which may take seconds.
 *
 * The cure: once a turn has lasted a few milliseconds, each further request waits for the next one.
 * Bun then closes a connection that has pipelined more requests behind it, after the responses that
 * were sent. Requests that come one at a time hardly ever wait.
 */

/** How long a turn may last before requests are deferred. */
const BUDGET_MS = 4;

/**
 * How long deferred requests may take at the start of a later turn. The rest is for new requests,
 * so that many deferred requests of one client do not delay those of others.
 */
const DEFERRED_BUDGET_MS = BUDGET_MS / 2;

interface Turn {
  readonly startMs: number;
  readonly ended: Promise<void>;
}

/**
 * Returns a function that calls `handle` at once, or in a later turn if the current one has used up
 * its budget.
 */
export function createTurns(): <T>(handle: () => T | Promise<T>) => T | Promise<T> {
  let turn: Turn | undefined;

  function elapsedMs(): number {
    if (turn) return performance.now() - turn.startMs;
    const { promise, resolve } = Promise.withResolvers<void>();
    turn = { startMs: performance.now(), ended: promise };
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
    return 0;
  }

  return (handle) => {
    if (elapsedMs() <= BUDGET_MS) return handle();
    return defer(handle);
  };

  async function defer<T>(handle: () => T | Promise<T>): Promise<T> {
    do await turn?.ended;
    while (elapsedMs() > DEFERRED_BUDGET_MS);
    return handle();
  }
}
