/**
 * Builds a snapshot file from a dataset. Streams: writes the rows of one batch of lines before it
 * reads the next. Never leaves a partial file at the target.
 */
import { existsSync } from "node:fs";
import { withEndLine } from "../../domain/dataset.ts";
import { rehearseFile, replaceFile } from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { countRows } from "../format/meta.ts";
import { createSchema } from "../format/schema.ts";
import { checkSnapshot } from "../read/check.ts";
import { listLines } from "../read/export.ts";
import { findMeta, refuseEmpty, refuseForeign, refuseShrinking } from "./overwrite-guard.ts";
import { hashLines, type LineSource, type ReadOptions, readDataset } from "./read-dataset.ts";
import { RowWriter } from "./rows.ts";
import { SkippingWriter } from "./skip-invalid.ts";
import { buildTimeAfter, type Counted, writeSnapshot } from "./write.ts";

export interface ImportOptions extends ReadOptions {
  /** Whether to skip invalid lines and references to missing records; see skip-invalid.ts. */
  skipInvalid?: boolean;
  /** Whether a dataset may have no users and no companies. */
  allowEmpty?: boolean;
  /** Whether to overwrite a file that is not a snapshot. */
  force?: boolean | undefined;
  /** Whether to leave `target` as it is, and only report. */
  dryRun?: boolean | undefined;
  /**
   * When the snapshot was built. The same dataset and time give the same bytes. Default now, or a
   * millisecond after the old snapshot if that is later.
   */
  builtAtMs?: number | undefined;
  /** Called repeatedly while the search index is built, with the finished share (0 to 1). */
  onIndexed?: (share: number) => void;
}

export interface Imported extends Counted {
  /** When the old snapshot was built. Set only if the clock is behind that time. */
  clockIsBehind?: string;
}

/**
 * Imports a dataset into the snapshot file `target`. Rejects with a `DatasetError` if lines are
 * invalid, with an `OverwriteError` if `target` is not a snapshot, or if the dataset is empty or
 * less than half of the old one, and with errors of the file system. `target` is unchanged then.
 */
export async function importDataset(
  dataset: LineSource,
  target: string,
  options: ImportOptions = {},
): Promise<Imported> {
  const put = options.dryRun ? rehearseFile : replaceFile;
  return put(target, async (path, file) => {
    if (!options.force && existsSync(file)) await refuseForeign(file, target);
    const old = findMeta(file);
    const now = Date.now();
    const builtAtMs = options.builtAtMs ?? buildTimeAfter(old, now);
    const { onIndexed } = options;
    const fillChecked = async (db: Database) => {
      const read = await fill(db, dataset, options);
      const counts = countRows(db);
      if (!options.allowEmpty) refuseEmpty(counts, read.lines);
      if (!options.allowShrink) refuseShrinking(target, old?.counts, counts);
      return { ...read, staleIndexes: ["company", "user"] as const };
    };
    const database = `${path}.database`;
    const counted = await writeSnapshot(path, database, { builtAtMs, onIndexed }, fillChecked);
    await checkSnapshot(path);
    const isBehind = options.builtAtMs === undefined && old && now < old.built_at_ms;
    return isBehind ? { ...counted, clockIsBehind: old.built_at } : counted;
  });
}

async function fill(db: Database, dataset: LineSource, options: ImportOptions) {
  createSchema(db.$client);
  if (!options.skipInvalid) return readDataset(dataset, new RowWriter(db), options);
  const writer = new SkippingWriter(db);
  const read = await readDataset(dataset, writer, options);
  if (!writer.hasPartialLines) return read;
  // A hash of the lines could confirm a guess about the skipped parts; see meta.ts.
  return { ...read, sha256: hashLines(withEndLine(listLines(db))) };
}
