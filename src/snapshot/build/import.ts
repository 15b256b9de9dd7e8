/**
 * Makes a snapshot of a dataset. Streams: a line is rows on disk before the next batch is read. The
 * snapshot appears at its path whole, or the path stays as it was.
 */
import { existsSync } from "node:fs";
import { withEndLine } from "../../domain/dataset.ts";
import { rehearseFile, replaceFile } from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { countRows } from "../format/meta.ts";
import { createSchema } from "../format/schema.ts";
import { checkSnapshot } from "../read/check.ts";
import { listLines } from "../read/export.ts";
import { hashLines, type Lines, type ReadOptions, readDataset } from "./dataset.ts";
import { createRowWriter } from "./rows.ts";
import { findMeta, refuseEmpty, refuseForeign, refuseShrinking } from "./shrink-guard.ts";
import { createSkippingWriter } from "./skip-invalid.ts";
import { buildTimeAfter, type Counted, writeSnapshot } from "./write.ts";

export interface ImportOptions extends ReadOptions {
  /** Leaves out lines that are wrong, and references to what is not there; see skip-invalid.ts. */
  skipInvalid?: boolean;
  /** A dataset without users and companies is no error. */
  allowEmpty?: boolean;
  /** Replaces also a file that is no snapshot. */
  force?: boolean | undefined;
  /** Does everything but put the snapshot in its place. */
  dryRun?: boolean | undefined;
  /**
   * The `built_at` of the snapshot: with the same one, a dataset gives the same bytes. Default now, or a
   * millisecond after that of the snapshot that is replaced, if that is later.
   */
  builtAtMs?: number | undefined;
  /** Called now and then after the last line with the share (0 to 1) of the search index that is built. */
  onIndexed?: (share: number) => void;
}

export interface Imported extends Counted {
  /** The `built_at` of the snapshot that was replaced, when the clock is behind it. */
  clockIsBehind?: string;
}

/**
 * Imports a dataset as the snapshot file `target`, whole or not at all. Rejects with a `DatasetError`
 * when lines are wrong, a `GuardError` when it holds too little or `target` is no snapshot, and what
 * the file system throws.
 */
export async function importDataset(
  dataset: Lines,
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
      if (!options.allowShrink) refuseShrinking(target, old?.counts, "the dataset", counts);
      return { ...read, staleIndexes: ["company", "user"] as const };
    };
    const database = `${path}.database`;
    const counted = await writeSnapshot(path, database, { builtAtMs, onIndexed }, fillChecked);
    // With a million users, to read every byte again takes 0.2 s, and SQLite's own checks 2 s.
    await checkSnapshot(path);
    const isBehind = options.builtAtMs === undefined && old && now < old.built_at_ms;
    return isBehind ? { ...counted, clockIsBehind: old.built_at } : counted;
  });
}

/** Writes the rows of the dataset. */
async function fill(db: Database, dataset: Lines, options: ImportOptions) {
  createSchema(db.$client);
  if (!options.skipInvalid) return readDataset(dataset, createRowWriter(db), options);
  const writer = createSkippingWriter(db);
  const read = await readDataset(dataset, writer, options);
  if (!writer.hasTakenBack()) return read;
  return { ...read, sha256: hashLines(withEndLine(listLines(db))) };
}
