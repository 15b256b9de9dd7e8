/** The targets of the commands that write a file: which are wrong, and what stands for a remote one. */
import { isSameFile } from "../files/replace.ts";
import type { Location } from "../snapshot/remote/location.ts";
import { UsageError } from "./values.ts";

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
