/** Snapshots held in memory: made of a dataset, or changed, by way of a folder that is gone afterwards. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyChanges } from "./apply.ts";
import type { Lines } from "./dataset.ts";
import { importDataset } from "./import.ts";

/** The bytes of a snapshot made of a dataset, which may be empty. */
export function buildSnapshot(dataset: Lines): Promise<Uint8Array> {
  return inFolder(async (path) => {
    await importDataset(dataset, path, { allowEmpty: true });
  });
}

/** The bytes of a snapshot with changes applied. */
export function changeSnapshot(snapshot: Uint8Array, changes: Lines): Promise<Uint8Array> {
  return inFolder(async (path) => {
    writeFileSync(path, snapshot);
    await applyChanges(changes, path);
  });
}

async function inFolder(write: (path: string) => Promise<void>): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "roadbook-"));
  try {
    const path = join(folder, "snapshot");
    await write(path);
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
