/** Lets signals end a command, unless it is just replacing a file, or stop a server. */
import { showOnTerminal } from "./terminal.ts";

/** The signals that end a command. */
export const ENDING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The signals that stop a server. */
export const STOPPING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM"];

/** Resolves to the next signal to stop. From the call on, such a signal does not end the process. */
export function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of STOPPING) process.once(signal, resolve);
  });
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
  const end = (signal: NodeJS.Signals, number: number) => {
    if (isCommitted) return;
    showOnTerminal("");
    console.error(`roadbook: ended by ${signal}; ${left}`);
    process.exit(128 + number);
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
