/** Checks whether a snapshot file is intact, as `roadbook check` does. */
import { type Meta, readMeta } from "./meta.ts";
import { openInPlace } from "./open.ts";
import { namingErrors, SnapshotError } from "./snapshot-error.ts";

/** Checks every byte, and runs SQLite's own checks, which detect bugs in how it was written. */
export function checkSnapshot(path: string): Promise<Meta & { sha256: string }> {
  return namingErrors(path, async () => {
    const { db, sha256 } = await openInPlace(path);
    try {
      const [row] = db.values<[result: string]>("PRAGMA integrity_check(1)");
      const result = row?.[0] ?? "";
      if (result === "ok") return { ...readMeta(db), sha256 };
      throw new SnapshotError(`is damaged: ${result.replaceAll("\n", " ")}`);
    } finally {
      db.$client.close();
    }
  });
}
