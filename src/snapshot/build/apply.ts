/**
 * Changes a snapshot: a copy of it is changed, line by line, and put in its place. The result is what
 * an import of the changed dataset would be, as far as any response can show.
 */
import { createHash } from "node:crypto";
import { constants, copyFileSync } from "node:fs";
import { replaceFile } from "../../files/replace.ts";
import { type Counts, readMeta } from "../format/meta.ts";
import { openTables, SnapshotError, snapshotError } from "../read/open.ts";
import { createRowChanger } from "./changes.ts";
import { type Lines, type ReadOptions, readDataset } from "./dataset.ts";
import { writeSnapshot } from "./write.ts";

/**
 * Applies changes to the snapshot file `target`, all or none. Rejects with a `DatasetError` when lines
 * are wrong, a `SnapshotError` when `target` is none, and what the file system throws.
 */
export async function applyChanges(
  changes: Lines,
  target: string,
  options: ReadOptions = {},
): Promise<Counts> {
  // Its checksum is verified when it is copied.
  (await openTables(target, { trust: true })).close();
  return replaceFile(target, async (path, old) => {
    const database = `${path}.database`;
    copyFileSync(old, database, constants.COPYFILE_FICLONE);
    try {
      // What is changed is what was checked, whatever becomes of the file.
      (await openTables(database)).close();
    } catch (error) {
      throw new SnapshotError(target, snapshotError(database, error).reason);
    }
    const { counts } = await writeSnapshot(path, database, async (db) => {
      const before = readMeta(db).dataset_sha256;
      const read = await readDataset(changes, createRowChanger(db), options);
      const sha256 = createHash("sha256").update(before + read.sha256);
      return { ...read, sha256: sha256.digest("hex") };
    });
    // Without the checks that an import has, which take 2 s with a million users: the copy was checked.
    (await openTables(path)).close();
    return counts;
  });
}
