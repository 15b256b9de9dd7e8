/**
 * Changes a snapshot: a copy of it is changed, line by line, and put in its place. The result is what
 * an import of the changed dataset would be, as far as any response can show.
 */
import { createHash } from "node:crypto";
import { parseChange } from "../../domain/dataset.ts";
import { type Counts, readMeta } from "../format/meta.ts";
import { openSnapshot } from "../read/open.ts";
import { createRowChanger } from "./changes.ts";
import { type ReadOptions, readDataset } from "./dataset.ts";
import { writeSnapshot } from "./write.ts";

/**
 * Applies a change file (NDJSON bytes, plain, gzip or zstd) to the snapshot file `target`. Throws a
 * `DatasetError` when lines are wrong, a `SnapshotError` when `target` is none, and what the file
 * system throws.
 */
export async function applyChanges(
  input: AsyncIterable<Uint8Array>,
  target: string,
  options: ReadOptions = {},
): Promise<Counts> {
  // Its checksum is verified when it is copied.
  (await openSnapshot(target, { trust: true })).close();
  return writeSnapshot(target, "the old snapshot", async (db) => {
    const before = readMeta(db).dataset_sha256;
    const handler = { parse: parseChange, ...createRowChanger(db) };
    const changes = await readDataset(input, handler, options);
    return createHash("sha256")
      .update(before + changes.sha256)
      .digest("hex");
  });
}
