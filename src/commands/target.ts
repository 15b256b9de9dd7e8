/** What the commands that write a file have in common: which targets are wrong, and how a signal ends them. */
import { constants } from "node:os";
import { discardUnfinished, isSameFile } from "../files/replace.ts";
import type { Location } from "../snapshot/remote/location.ts";
import { UsageError } from "./values.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Throws a {@link UsageError} when a command would write what it reads. */
export function refuseSameFile(source: string, target: string): void {
  if (!isSameFile(source, target)) return;
  const name = source === "-" ? "standard input" : source;
  throw new UsageError(`${name} and --to ${target} are the same file`);
}

/**
 * Has `write` make a plain snapshot file that becomes `to`, which may be an object in a store, or be
 * compressed.
 */
export async function writeTarget<T>(
  to: string,
  location: Location | undefined,
  write: (path: string) => Promise<T>,
): Promise<T> {
  if (!location && !to.endsWith(".zst")) return write(to);
  const { replaceCompressed, replaceObject } = await import("../snapshot/remote/object.ts");
  return location ? replaceObject(location, write) : replaceCompressed(to, write);
}

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
