/** Snapshots held in memory: made of a dataset, or changed, by way of a folder that is gone afterwards. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readFileBytes } from "../../files/lines.ts";
import { applyChanges } from "./apply.ts";
import { importDataset } from "./import.ts";

/** Lines: the path of a file (NDJSON, plain, gzip or zstd), objects, or the bytes of such a file. */
export type Lines = string | Iterable<object> | AsyncIterable<Uint8Array>;

/** The bytes of a snapshot made of a dataset, which may be empty. */
export function buildSnapshot(dataset: Lines): Promise<Uint8Array> {
  return inFolder(async (path) => {
    await importDataset(bytesOf(dataset), path, { allowEmpty: true });
  });
}

/** The bytes of a snapshot with changes applied. */
export function changeSnapshot(snapshot: Uint8Array, changes: Lines): Promise<Uint8Array> {
  return inFolder(async (path) => {
    writeFileSync(path, snapshot);
    await applyChanges(bytesOf(changes), path);
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
