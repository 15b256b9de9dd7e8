/**
 * Holds an import or a change against the snapshot that it replaces: an export that failed half way
 * must not empty a site. An import reads only the facts of the old file, whatever its schema.
 */
import { sqlite } from "#sqlite";
import { type Counts, type Meta, readMeta } from "../format/meta.ts";

/** The dataset holds so little that it must be a mistake; `message` is for the operator. */
export class GuardError extends Error {
  override name = "GuardError";
}

/** Throws a {@link GuardError} when there is nobody in a dataset. */
export function refuseEmpty({ users, companies }: Counts): void {
  if (users > 0 || companies > 0) return;
  throw new GuardError("the dataset has no users and no companies, nothing was written");
}

/**
 * Throws a {@link GuardError} when more than half of the users or companies in `target` would go. A
 * user who goes private is still one. `cause` is followed by how many there would be.
 */
export function refuseShrinking(
  target: string,
  old: Counts | undefined,
  cause: string,
  counts: Counts,
): void {
  for (const kind of ["users", "companies"] as const) {
    const before = Number(old?.[kind] ?? 0);
    if (before - counts[kind] > before / 2) {
      throw new GuardError(
        `${target} has ${before} ${kind} and ${cause} ${counts[kind]}: more than half would go, ` +
          "nothing was written; if that is meant, say --allow-shrink",
      );
    }
  }
}

/**
 * The facts of a snapshot, as it says itself. Undefined when there is none or it cannot say: to import
 * again is how a damaged one is mended.
 */
export function findMeta(path: string): Meta | undefined {
  try {
    const db = sqlite.openImmutable(path);
    try {
      return readMeta(db);
    } finally {
      db.$client.close();
    }
  } catch {
    return undefined;
  }
}
