/** Errors about given values, and the known name that a person most likely meant. */
import { closest, distance } from "fastest-levenshtein";

/** The message continues a sentence that begins with the value's name. */
export class InvalidValue extends RangeError {
  override name = "InvalidValue";
}

/** Reports incorrect usage, for which a command exits with 2. The message is for the operator. */
export class UsageError extends RangeError {
  override name = "UsageError";
}

/** Returns a name that differs from `name` in a few letters, at most half of them. Dashes do not count. */
export function findSimilar(name: string, known: readonly string[], few = 3): string | undefined {
  const similar = known.length > 0 ? closest(name, known) : undefined;
  const most = Math.min(few, name.replace(/^-+/, "").length / 2);
  return similar && distance(name, similar) <= most ? similar : undefined;
}

/** Returns the end of the error for an unknown name. */
export function suggest(name: string, known: readonly string[], otherwise = ""): string {
  const similar = findSimilar(name, known);
  return similar ? `; did you mean ${similar}?` : otherwise;
}
