/**
 * Applies a change file to a copy of a snapshot, then replaces the snapshot with the changed copy.
 * A server then responds as if the changed dataset had been imported.
 */
import { constants, copyFileSync } from "node:fs";
import { replaceFile } from "../../files/replace.ts";
import { type Counts, countRows, type Meta, readMeta } from "../format/meta.ts";
import { openTables, SnapshotError, snapshotError } from "../read/open.ts";
import { RowChanger } from "./changes.ts";
import { refuseShrinking } from "./overwrite-guard.ts";
import { type LineSource, type ReadOptions, readDataset } from "./read-dataset.ts";
import { writeSnapshot } from "./write.ts";

/**
 * Applies either all changes to the snapshot file `target` or none. Rejects with a `DatasetError`
 * if a line is invalid, an `OverwriteError` if more than half of the users or companies would be
 * lost, a `SnapshotError` if `target` is not a valid snapshot, or a file system error.
 */
export async function applyChanges(
  changes: LineSource,
  target: string,
  options: ReadOptions = {},
): Promise<Counts> {
  return replaceFile(target, async (path, file) => {
    const database = `${path}.database`;
    let old: Meta;
    try {
      copyFileSync(file, database, constants.COPYFILE_FICLONE);
      // Verifies the copy rather than the original, which may have changed since it was copied.
      const tables = await openTables(database);
      old = readMeta(tables.db);
      tables.close();
    } catch (error) {
      throw new SnapshotError(target, snapshotError(database, error).reason);
    }
    const { counts } = await writeSnapshot(path, database, {}, async (db) => {
      const changer = new RowChanger(db);
      const read = await readDataset(changes, changer, options);
      if (!options.allowShrink) refuseShrinking(target, old.counts, countRows(db));
      return {
        ...read,
        staleIndexes: changer.staleIndexes,
        featuredCandidates: changer.listFeaturedCandidates(old.featured),
      };
    });
    // Opening the file verifies its checksum and schema. The full check that `import` runs is not
    // needed, because the changes were made to a verified copy.
    (await openTables(path)).close();
    return counts;
  });
}
