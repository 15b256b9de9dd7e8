/** Waits only so long. */

/** The time in which the process lags counts as one step of a wait at most. */
const STEPS = 10;

/** Settles like `reply`, or fails after `waitMs`, later if the process reads replies late. */
export function within<T>(waitMs: number, reply: Promise<T>, fail: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    let steps = 0;
    let timer: ReturnType<typeof setTimeout>;
    const wait = () => {
      if (steps === STEPS) reject(fail());
      else timer = setTimeout(wait, waitMs / STEPS);
      steps++;
    };
    wait();
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
