/** Waits for others, but only so long: for a reply, or for something that is busy. */
import { setTimeout as sleep } from "node:timers/promises";

/** The time in which the process lags counts as one step of a wait at most. */
const STEPS = 10;
const RETRY_MS = 50;

/**
 * Settles like `reply`, or rejects with an error of `makeError` after `waitMs`, later if the process reads
 * replies late.
 */
export function within<T>(waitMs: number, reply: Promise<T>, makeError: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    let steps = 0;
    let timer: ReturnType<typeof setTimeout>;
    const wait = () => {
      if (steps === STEPS) reject(makeError());
      else timer = setTimeout(wait, waitMs / STEPS);
      steps++;
    };
    wait();
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Calls `work` again while its error says that something is busy, for up to `waitMs`. */
export async function retryWhile<T>(
  isBusy: (error: unknown) => boolean,
  work: () => T,
  waitMs: number,
  onWait?: () => void,
): Promise<Awaited<T>> {
  const endMs = performance.now() + waitMs;
  for (let times = 0; ; times++) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= endMs) throw error;
    }
    if (times === 0) onWait?.();
    await sleep(RETRY_MS);
  }
}
