/** Reads every byte of a snapshot file and says whether it is the one that was written. */
import { InvalidSnapshot } from "../format/file.ts";
import { countRows, type Meta, readMeta } from "../format/meta.ts";
import { openTables, snapshotError } from "./open.ts";

/**
 * Checks the file from its header to the last bit; returns its facts, or throws a `SnapshotError`.
 * The checksum finds any change since the file was written; SQLite's own checks, which take the
 * longer part, find what Roadbook or SQLite would have written wrong.
 */
export async function checkSnapshot(path: string): Promise<Meta> {
  const db = await openTables(path);
  try {
    // FTS5 checks itself on the way: of posting lists without their text, that they are well formed.
    const [error] = db.prepare<{ integrity_check: string }>("PRAGMA integrity_check(1)").all();
    if (error?.integrity_check !== "ok") {
      throw new InvalidSnapshot(`is damaged: ${error?.integrity_check.replaceAll("\n", " ")}`);
    }
    const meta = readMeta(db);
    if (JSON.stringify(countRows(db)) !== JSON.stringify(meta.counts)) {
      throw new InvalidSnapshot("is damaged: it does not hold as much as it says");
    }
    return meta;
  } catch (error) {
    throw snapshotError(path, error);
  } finally {
    db.close();
  }
}
