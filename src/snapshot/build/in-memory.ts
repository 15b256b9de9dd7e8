/** Builds and changes snapshots in memory, with a temporary folder that is removed afterwards. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inTemporaryFolder } from "../../files/replace.ts";
import { applyChanges } from "./apply.ts";
import { importDataset } from "./import.ts";
import type { LineSource } from "./read-dataset.ts";

/** Returns the bytes of a snapshot built from a dataset, which may be empty. */
export function buildSnapshot(dataset: LineSource): Promise<Uint8Array> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, "snapshot");
    await importDataset(dataset, path, { allowEmpty: true });
    return readFileSync(path);
  });
}

/** Returns the bytes of a snapshot with changes applied. */
export function changeSnapshot(snapshot: Uint8Array, changes: LineSource): Promise<Uint8Array> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, "snapshot");
    writeFileSync(path, snapshot);
    // The guard is for files. This is a copy in memory.
    await applyChanges(changes, path, { allowShrink: true });
    return readFileSync(path);
  });
}
