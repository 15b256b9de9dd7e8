/** Imports folders of CSV files whose texts stand in a test. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ImportOptions } from "../../src/import/import.ts";
import { importDataset } from "../../src/import/import.ts";
import { exported } from "../datasets.ts";
import { temporaryFolder } from "../support.ts";

export type Files = Record<string, string | Uint8Array>;

export function makeFolder(files: Files): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** Imports files, and returns the records, the errors that were skipped, and the notes. */
export async function importFiles(files: Files, options: ImportOptions = {}) {
  const target = join(temporaryFolder(), "snapshot");
  const { skipped, notes } = await importDataset(makeFolder(files), target, options);
  const lines = (await exported(target)).trim().split("\n").slice(0, -1);
  return { records: lines.map((line) => JSON.parse(line)), skipped: skipped.format(), notes };
}

export async function errorsOf(files: Files, options: ImportOptions = {}): Promise<string> {
  return importFiles(files, options).then(
    () => "no error",
    (error: Error) => error.message,
  );
}
