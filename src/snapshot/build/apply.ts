/**
 * Changes a snapshot: applies each line to a copy of it, then replaces it with the copy. The server
 * responds as if the changed dataset had been imported.
 */
import { createHash } from "node:crypto";
import { constants, copyFileSync } from "node:fs";
import { replaceFile } from "../../files/replace.ts";
import { type Counts, countRows, type Meta, readMeta } from "../format/meta.ts";
import { openTables, SnapshotError, snapshotError } from "../read/open.ts";
import { RowChanger } from "./changes.ts";
import { refuseShrinking } from "./overwrite-guard.ts";
import { type LineSource, type ReadOptions, readDataset } from "./read-dataset.ts";
import { buildTimeAfter, writeSnapshot } from "./write.ts";

/**
 * Applies changes to the snapshot file `target`, all or none. Rejects with a `DatasetError` when
 * lines are invalid, an `OverwriteError` when more than half of the users or companies would be
 * lost, a `SnapshotError` when `target` is not a snapshot, and errors of the file system. The new
 * snapshot is dated after the old one even if the clock was set back: servers that fetch it refuse
 * an older one, and a profile that has gone private must reach them.
 */
export async function applyChanges(
  changes: LineSource,
  target: string,
  options: ReadOptions = {},
): Promise<Counts> {
  // Fails early if the target is not a snapshot. The checksum is verified on the copy.
  (await openTables(target, { trust: true })).close();
  return replaceFile(target, async (path, file) => {
    const database = `${path}.database`;
    copyFileSync(file, database, constants.COPYFILE_FICLONE);
    let old: Meta;
    try {
      // Verifies the copy, not the file, which may change after it was copied.
      const tables = await openTables(database);
      old = readMeta(tables.db);
      tables.close();
    } catch (error) {
      throw new SnapshotError(target, snapshotError(database, error).reason);
    }
    const builtAtMs = buildTimeAfter(old, Date.now());
    const { counts } = await writeSnapshot(path, database, { builtAtMs }, async (db) => {
      const changer = new RowChanger(db);
      const read = await readDataset(changes, changer, options);
      if (!options.allowShrink) refuseShrinking(target, old.counts, countRows(db));
      const sha256 = createHash("sha256").update(old.dataset_sha256 + read.sha256);
      return {
        ...read,
        sha256: sha256.digest("hex"),
        staleIndexes: changer.staleIndexes,
        featuredCandidates: changer.listFeaturedCandidates(old.featured),
      };
    });
    // Skips the full check of an import, as the changes started from a verified copy.
    (await openTables(path)).close();
    return counts;
  });
}
