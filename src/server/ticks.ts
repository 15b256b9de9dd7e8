/**
 * Keeps each tick of the event loop short. Bun handles all requests that it has read in one tick,
 * while timers, signals and other clients wait. So once a tick has lasted some milliseconds,
 * further requests wait for the next one. Bun closes a connection that has pipelined such requests.
 */

const BUDGET_MS = 2;

/** Deferred requests get only a part of a later tick, so they do not hold up other clients. */
const DEFERRED_BUDGET_MS = BUDGET_MS / 2;

/**
 * Returns a function that calls `handle` at once, or in a later tick if this one was too long.
 * Watching costs time, so a tick is watched only if it begins a whole budget after the last watched
 * one began.
 */
export function spreadOverTicks(): <T>(handle: () => T | Promise<T>) => T | Promise<T> {
  let startMs = 0;
  /** Resolves at the end of the current tick. Undefined if the tick is not watched. */
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
