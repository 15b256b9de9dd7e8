/**
 * Holds an import or a change against the file that it replaces: an export that failed half way must
 * not empty a site, nor a mistyped name cost another program its file. An import reads only the facts
 * of the old file, whatever its schema.
 */
import { sqlite } from "#sqlite";
import { openFile } from "../../files/read.ts";
import { HEADER_BYTES, InvalidSnapshot, parseFileBytes } from "../format/file.ts";
import { type Counts, type Meta, readMeta } from "../format/meta.ts";

/** The dataset holds so little that it must be a mistake; `message` is for the operator. */
export class GuardError extends Error {
  override name = "GuardError";
}

/** Throws a {@link GuardError} when there is nobody in a dataset, which has so many lines. */
export function refuseEmpty({ users, companies }: Counts, lines: number): void {
  if (users > 0 || companies > 0) return;
  const advice = "; if it comes through a pipe, see whether the program in front has failed";
  throw new GuardError(
    `the dataset has no users and no companies, nothing was written${lines > 0 ? "" : advice}`,
  );
}

/**
 * Throws a {@link GuardError} when the file at `path`, called `target`, does not begin like a snapshot
 * of any schema: then no import has written it. A damaged snapshot may be replaced.
 */
export async function refuseForeign(path: string, target: string): Promise<void> {
  await using file = await openFile(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  try {
    parseFileBytes(buffer.subarray(0, bytesRead), true);
  } catch (error) {
    if (!(error instanceof InvalidSnapshot)) throw error;
    throw new GuardError(notOverwritten(target, "a Roadbook snapshot"));
  }
}

/** Says that a file stays as it is, because it is not `what` a command writes. */
export function notOverwritten(target: string, what: string): string {
  return `${target} exists and is not ${what}; choose another --to, or overwrite it with --force`;
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
