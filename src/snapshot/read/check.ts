/** Reads every byte of a snapshot file and says whether it is the one that was written. */
import { isSealed } from "../format/checksum.ts";
import { countRows, type Meta, readMeta } from "../format/meta.ts";
import { openSnapshotTables, Refusal, told } from "./open.ts";

/**
 * Checks the file from its header to the last bit; returns its facts, or throws a `SnapshotError`.
 * The digest finds any change since the file was written; SQLite's own checks, which take the longer
 * part, find what Roadbook or SQLite would have written wrong.
 */
export function checkSnapshot(path: string): Meta {
  return told(path, () => {
    const db = openSnapshotTables(path);
    try {
      if (!isSealed(path)) throw new Refusal("is damaged: a part of it has changed");
      // FTS5 checks itself on the way: of lists without their text, that they are well formed.
      const [fault] = db.prepare<{ integrity_check: string }>("PRAGMA integrity_check(1)").all();
      if (fault?.integrity_check !== "ok") {
        throw new Refusal(`is damaged: ${fault?.integrity_check.replaceAll("\n", " ")}`);
      }
      const meta = readMeta(db);
      if (JSON.stringify(countRows(db)) !== JSON.stringify(meta.counts)) {
        throw new Refusal("is damaged: it does not hold as much as it says");
      }
      return meta;
    } finally {
      db.close();
    }
  });
}
