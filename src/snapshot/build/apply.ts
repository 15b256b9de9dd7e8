/**
 * Changes a snapshot: a copy of it is changed, line by line, and put in its place. The result is what
 * an import of the changed dataset would be, as far as any response can show.
 */
import { createHash } from "node:crypto";
import { parseChange } from "../../domain/dataset.ts";
import { type Counts, readMeta } from "../format/meta.ts";
import { openSnapshot } from "../read/open.ts";
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
  (await openSnapshot(target, { trust: true })).close();
  return writeSnapshot(target, "the old snapshot", async (db) => {
    const before = readMeta(db).dataset_sha256;
    const handler = { parse: parseChange, ...createRowChanger(db) };
    const { sha256 } = await readDataset(changes, handler, options);
    return createHash("sha256")
      .update(before + sha256)
      .digest("hex");
  });
}
