/** Snapshots held in memory: made of a dataset, or changed, by way of a folder that is gone afterwards. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inTemporaryFolder } from "../../files/replace.ts";
import { applyChanges } from "./apply.ts";
import type { Lines } from "./dataset.ts";
import { importDataset } from "./import.ts";

/** The bytes of a snapshot made of a dataset, which may be empty. */
export function buildSnapshot(dataset: Lines): Promise<Uint8Array> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, "snapshot");
    await importDataset(dataset, path, { allowEmpty: true });
    return readFileSync(path);
  });
}

/** The bytes of a snapshot with changes applied. */
export function changeSnapshot(snapshot: Uint8Array, changes: Lines): Promise<Uint8Array> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, "snapshot");
    writeFileSync(path, snapshot);
    // In memory nothing of a site is lost.
    await applyChanges(changes, path, { allowShrink: true });
    return readFileSync(path);
  });
}
