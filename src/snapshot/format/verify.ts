/** Verifies that a file is a snapshot as Roadbook writes it. */
import { SnapshotError } from "../format/file.ts";
import { type Meta, readMeta } from "../format/meta.ts";
import { openInPlace, snapshotError } from "../read/open.ts";

/**
 * Checks the whole file and returns its metadata. Throws a `SnapshotError` if the check fails. The
 * checksum detects any change since the file was written. SQLite's own checks detect bugs in how
 * the file was written.
 */
export async function checkSnapshot(path: string): Promise<Meta> {
  const { db, close } = await openInPlace(path);
  try {
    const check = db.$client.prepare<{ integrity_check: string }>("PRAGMA integrity_check(1)");
    const result = check.get()?.integrity_check;
    if (result !== "ok") throw new SnapshotError(`is damaged: ${result?.replaceAll("\n", " ")}`);
    return readMeta(db);
  } catch (error) {
    throw snapshotError(path, error);
  } finally {
    close();
  }
}
