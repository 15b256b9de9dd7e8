/** Ends a command at a signal, unless it has replaced its file already or is a server. */
import { once } from "node:events";
import { constants } from "node:os";
import { clearLine } from "./progress.ts";

/** The signals that end a command. */
export const ENDING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The signals that stop a server. */
export const STOPPING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM"];

/** Resolves to the next signal to stop. From the call on, such a signal does not end the process. */
export async function nextSignal(): Promise<string> {
  const [signal] = await Promise.race(STOPPING.map((name) => once(process, name)));
  return signal;
}

interface EndOptions {
  signals?: readonly NodeJS.Signals[];
  /** The state of the files after a signal, for the message. */
  left?: string;
}

/**
 * Runs `write`. A signal ends the process and so removes unfinished files. Once `write` has called
 * `onCommit`, signals are ignored, because the exit code must say that the file was replaced.
 */
export async function endOnSignal<T>(
  write: (onCommit: () => void) => Promise<T>,
  { signals = ENDING, left = "no file was changed" }: EndOptions = {},
): Promise<T> {
  let isCommitted = false;
  const end = (signal: NodeJS.Signals) => {
    if (isCommitted) return;
    clearLine();
    process.stderr.write(`roadbook: ended by ${signal}; ${left}\n`);
    process.exit(128 + constants.signals[signal]);
  };

  for (const signal of signals) process.on(signal, end);
  try {
    return await write(() => {
      isCommitted = true;
    });
  } finally {
    if (!isCommitted) {
      for (const signal of signals) process.off(signal, end);
    }
  }
}
