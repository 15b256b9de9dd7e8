/** Reads a whole snapshot and verifies that it is what Roadbook wrote. Never changes the file. */
import { SnapshotError } from "../format/file.ts";
import { countRows, type Meta, readMeta } from "../format/meta.ts";
import { openInPlace, snapshotError } from "./open.ts";

/**
 * Checks the whole file and returns its metadata. Throws a `SnapshotError` if the check fails. The
 * checksum detects any change since the file was written. SQLite's own checks detect bugs in how
 * the file was written.
 */
export async function checkSnapshot(path: string): Promise<Meta> {
  const { db, close } = await openInPlace(path);
  try {
    // The integrity check includes FTS5. Because the indexed text is not stored, FTS5 can only
    // check that its lists are well formed.
    const [error] = db.$client
      .prepare<{ integrity_check: string }>("PRAGMA integrity_check(1)")
      .all();
    if (error?.integrity_check !== "ok") {
      throw new SnapshotError(`is damaged: ${error?.integrity_check.replaceAll("\n", " ")}`);
    }
    const meta = readMeta(db);
    if (JSON.stringify(countRows(db)) !== JSON.stringify(meta.counts)) {
      throw new SnapshotError("is damaged: its row counts do not match its metadata");
    }
    return meta;
  } catch (error) {
    throw snapshotError(path, error);
  } finally {
    close();
  }
}
