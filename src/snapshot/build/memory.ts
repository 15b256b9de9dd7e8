/** Snapshots held in memory: made of a dataset, or changed, by way of a folder that is gone afterwards. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readFileBytes } from "../../files/lines.ts";
import { inTemporaryFolder } from "../../files/replace.ts";
import { applyChanges } from "./apply.ts";
import { importDataset } from "./import.ts";

/** Lines: the path of a file (NDJSON, plain, gzip or zstd), objects, or the bytes of such a file. */
export type Lines = string | Iterable<object> | AsyncIterable<Uint8Array>;

/** The bytes of a snapshot made of a dataset, which may be empty. */
export function buildSnapshot(dataset: Lines): Promise<Uint8Array> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, "snapshot");
    await importDataset(bytesOf(dataset), path, { allowEmpty: true });
    return readFileSync(path);
  });
}

/** The bytes of a snapshot with changes applied. */
export function changeSnapshot(snapshot: Uint8Array, changes: Lines): Promise<Uint8Array> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, "snapshot");
    writeFileSync(path, snapshot);
    await applyChanges(bytesOf(changes), path);
    return readFileSync(path);
  });
}

/** The lines as the bytes of a file. */
export function bytesOf(lines: Lines): AsyncIterable<Uint8Array> {
  if (typeof lines === "string") return readFileBytes(lines);
  return Symbol.asyncIterator in lines ? lines : format(lines);
}

async function* format(objects: Iterable<object>): AsyncGenerator<Uint8Array> {
  for (const object of objects) yield Buffer.from(`${JSON.stringify(object)}\n`);
}
