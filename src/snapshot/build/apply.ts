/**
 * Changes a snapshot: a copy of it is changed, line by line, and put in its place. The result is what
 * an import of the changed dataset would be, as far as any response can show.
 */
import { createHash } from "node:crypto";
import { constants, copyFileSync } from "node:fs";
import { replaceFile } from "../../files/replace.ts";
import { type Counts, countRows, type Meta, readMeta } from "../format/meta.ts";
import { openTables, SnapshotError, snapshotError } from "../read/open.ts";
import { createRowChanger } from "./changes.ts";
import { type Lines, type ReadOptions, readDataset } from "./dataset.ts";
import { refuseShrinking } from "./shrink-guard.ts";
import { buildTimeAfter, writeSnapshot } from "./write.ts";

/**
 * Applies changes to the snapshot file `target`, all or none. Rejects with a `DatasetError` when lines
 * are wrong, a `GuardError` when too much would go, a `SnapshotError` when `target` is none, and what
 * the file system throws. The snapshot is always later than the one before, whatever the clock says:
 * servers that fetch it refuse an older one, and a profile that has gone private must reach them.
 */
export async function applyChanges(
  changes: Lines,
  target: string,
  options: ReadOptions = {},
): Promise<Counts> {
  // Its checksum is verified when it is copied.
  (await openTables(target, { trust: true })).close();
  return replaceFile(target, async (path, file) => {
    const database = `${path}.database`;
    copyFileSync(file, database, constants.COPYFILE_FICLONE);
    let old: Meta;
    try {
      // What is changed is what was checked, whatever becomes of the file.
      const tables = await openTables(database);
      old = readMeta(tables.db);
      tables.close();
    } catch (error) {
      throw new SnapshotError(target, snapshotError(database, error).reason);
    }
    const builtAtMs = buildTimeAfter(old, Date.now());
    const { counts } = await writeSnapshot(path, database, { builtAtMs }, async (db) => {
      const changer = createRowChanger(db);
      const read = await readDataset(changes, changer, options);
      if (!options.allowShrink) {
        refuseShrinking(target, old.counts, "the changes would leave", countRows(db));
      }
      const sha256 = createHash("sha256").update(old.dataset_sha256 + read.sha256);
      return {
        ...read,
        sha256: sha256.digest("hex"),
        staleIndexes: changer.staleIndexes(),
        featuredCandidates: changer.listFeaturedCandidates(old.featured),
      };
    });
    // Without the checks that an import has, which take 2 s with a million users: the copy was checked.
    (await openTables(path)).close();
    return counts;
  });
}
