/**
 * Keeps each turn of the event loop short. Bun responds to all requests that it has read in one
 * turn, while timers, signals and other clients wait. So once a turn has lasted some milliseconds,
 * further requests wait for the next one, and Bun closes a connection that has pipelined more.
 */

const BUDGET_MS = 2;

/** Deferred requests get only a part of a later turn, so they do not hold up other clients. */
const DEFERRED_BUDGET_MS = BUDGET_MS / 2;

/**
 * Returns a function that calls `handle` at once, or in a later turn if this one was too long.
 * Watching costs time, so a turn is watched only if it begins a whole budget after the last one.
 */
export function createTurns(): <T>(handle: () => T | Promise<T>) => T | Promise<T> {
  let startMs = 0;
  /** Resolves at the end of the current turn. Undefined if the turn is not watched. */
  let ended: Promise<void> | undefined;

  function watch(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    startMs = performance.now();
    ended = promise;
    setImmediate(() => {
      ended = undefined;
      resolve();
    });
  }

  function elapsedMs(): number {
    if (!ended) watch();
    return performance.now() - startMs;
  }

  return (handle) => {
    if (performance.now() - startMs <= BUDGET_MS || elapsedMs() <= BUDGET_MS) return handle();
    return defer(handle);
  };

  async function defer<T>(handle: () => T | Promise<T>): Promise<T> {
    do await ended;
    while (elapsedMs() > DEFERRED_BUDGET_MS);
    return handle();
  }
}
