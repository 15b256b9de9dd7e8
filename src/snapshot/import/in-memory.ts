/** Builds and changes snapshots in memory, using a temporary folder that is removed afterwards. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inTemporaryFolder } from "../../files/replace.ts";
import { applyChanges } from "./apply.ts";
import { importDataset } from "./import.ts";
import type { LineSource } from "./read-dataset.ts";

/** Builds a snapshot from a dataset, which may be empty, and returns the snapshot's bytes. */
export function buildSnapshot(dataset: LineSource): Promise<Uint8Array> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, "snapshot");
    await importDataset(dataset, path, { allowEmpty: true });
    return readFileSync(path);
  });
}

/** Applies changes to a snapshot and returns the bytes of the new snapshot. */
export function changeSnapshot(snapshot: Uint8Array, changes: LineSource): Promise<Uint8Array> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, "snapshot");
    writeFileSync(path, snapshot);
    // This is only a copy in memory, so it needs no protection against losing data.
    await applyChanges(changes, path, { allowShrink: true });
    return readFileSync(path);
  });
}
