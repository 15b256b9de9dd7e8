/**
 * Protects the target of `import` and `apply`: an incomplete dataset must not empty a site, and a
 * mistyped file name must not overwrite another program's file.
 */
import { sqlite } from "#sqlite";
import { openFile } from "../../files/read.ts";
import { parseFileBytes, readHeader, SnapshotError } from "../format/file.ts";
import { type Counts, readMeta } from "../format/meta.ts";

/** Throws unless the file is a snapshot, which may have any schema version or be damaged. */
export async function refuseForeign(path: string, target: string): Promise<void> {
  await using file = await openFile(path);
  try {
    parseFileBytes(await readHeader(file), true);
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    throw new Error(notOverwritten(target, "a Roadbook snapshot"));
  }
}

/** `what` is the kind of file that the command writes, such as "a Roadbook snapshot". */
export function notOverwritten(target: string, what: string): string {
  return `${target} exists and is not ${what}; choose another --to, or overwrite it with --force`;
}

/**
 * Throws an error if `target` would lose more than half of its users or companies. Users who go
 * private do not count as lost, unless they become private only because of an invalid line.
 */
export function refuseShrinking(target: string, old: Counts, left: Counts, hidden = 0): void {
  for (const kind of ["users", "companies"] as const) {
    const before = old[kind];
    const lost = before - left[kind] + (kind === "users" ? hidden : 0);
    if (lost <= before / 2) continue;
    const share = `${lost.toLocaleString("en")} of its ${before.toLocaleString("en")} ${kind}`;
    throw new Error(
      `${target} would lose ${share}; nothing was written (to remove more than half, add --allow-shrink)`,
    );
  }
}

/** Returns undefined for a damaged snapshot, so that an import can replace it. */
export function findCounts(path: string): Counts | undefined {
  try {
    const db = sqlite.openImmutable(path);
    try {
      return readMeta(db).counts;
    } finally {
      db.$client.close();
    }
  } catch {
    return undefined;
  }
}
