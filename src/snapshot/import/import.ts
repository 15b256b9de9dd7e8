/**
 * Builds a snapshot file from a dataset. The dataset is streamed: the rows for one batch of lines
 * are written before the next batch is read. A failed import never leaves a partial file at the
 * target.
 */
import { existsSync } from "node:fs";
import { rehearseFile, replaceFile } from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { countRows } from "../format/meta.ts";
import { createSchema } from "../format/schema.ts";
import { checkSnapshot } from "../read/check.ts";
import { findMeta, refuseEmpty, refuseForeign, refuseShrinking } from "./overwrite-guard.ts";
import { type LineSource, type ReadOptions, readDataset } from "./read-dataset.ts";
import { RowWriter } from "./rows.ts";
import { SkippingWriter } from "./skip-invalid.ts";
import { type Counted, writeSnapshot } from "./write.ts";

export interface ImportOptions extends ReadOptions {
  /** Whether to skip anything invalid in the dataset; see skip-invalid.ts. */
  skipInvalid?: boolean;
  /** Whether to accept a dataset that has neither users nor companies. */
  allowEmpty?: boolean;
  /** Whether to overwrite a file that is not a snapshot. */
  force?: boolean | undefined;
  /** Whether to report what an import would do, without changing `target`. */
  dryRun?: boolean | undefined;
  /** The build time to record. The same dataset and build time give the same bytes. */
  builtAtMs?: number | undefined;
  /** Called repeatedly while the search index is built, with the progress (0 to 1). */
  onIndexed?: (share: number) => void;
}

/**
 * Imports a dataset into the snapshot file `target`. Rejects with a `DatasetError` if a line is
 * invalid, and with an `OverwriteError` if `target` is not a snapshot, if the dataset is empty, or
 * if more than half of the users or companies would be lost. Also rejects with file system errors.
 * If an import fails, `target` is unchanged.
 */
export async function importDataset(
  dataset: LineSource,
  target: string,
  options: ImportOptions = {},
): Promise<Counted> {
  const put = options.dryRun ? rehearseFile : replaceFile;
  return put(target, async (path, file) => {
    if (!options.force && existsSync(file)) await refuseForeign(file, target);
    const old = findMeta(file);
    const { builtAtMs, onIndexed } = options;
    const fillChecked = async (db: Database) => {
      const read = await fill(db, dataset, options);
      const counts = countRows(db);
      if (!options.allowEmpty) refuseEmpty(counts, read.lines);
      if (!options.allowShrink) refuseShrinking(target, old?.counts, counts, read.skipped.hidden);
      return { ...read, staleIndexes: ["company", "user"] as const };
    };
    const database = `${path}.database`;
    const counted = await writeSnapshot(path, database, { builtAtMs, onIndexed }, fillChecked);
    await checkSnapshot(path);
    return counted;
  });
}

async function fill(db: Database, dataset: LineSource, options: ImportOptions) {
  createSchema(db.$client);
  if (!options.skipInvalid) return readDataset(dataset, new RowWriter(db), options);
  const writer = new SkippingWriter(db);
  const read = await readDataset(dataset, writer, options);
  read.skipped.hidden = writer.hidden;
  return read;
}
