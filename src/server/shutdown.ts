/** Stops a server at SIGTERM or SIGINT, and says when it no longer waits for its requests. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";

export interface Stoppable {
  /** Finishes the requests in progress, or cuts them off as soon as `isOver` resolves. */
  stop(isOver: Promise<unknown>): Promise<void>;
}

/** From the call on, the signals do not end the process. Resolves when the server has stopped. */
export async function stopOnSignal(
  server: Stoppable,
  timeoutMs: number,
  log: Logger,
): Promise<void> {
  const [signal] = await nextSignal();
  log.info({ signal }, "stopping");
  // A second signal or the timeout cuts off requests that are still in progress.
  await server.stop(Promise.race([nextSignal(), sleep(timeoutMs)]));
  log.info("stopped");
}

const nextSignal = () => Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
