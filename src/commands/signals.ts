/** How a signal ends a command that writes a file. */
import { constants } from "node:os";
import { discardUnfinished } from "../files/replace.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs what writes a file; a signal leaves its target as it was and nothing beside it. */
export async function endOnSignal<T>(
  write: () => Promise<T>,
  signals: readonly NodeJS.Signals[] = SIGNALS,
): Promise<T> {
  const end = (signal: NodeJS.Signals) => {
    discardUnfinished();
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of signals) process.on(signal, end);
  try {
    return await write();
  } finally {
    for (const signal of signals) process.off(signal, end);
  }
}
