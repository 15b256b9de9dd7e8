/**
 * Makes a snapshot of a dataset. Streams: a line is rows on disk before the next batch is read. The
 * snapshot appears at its path whole, or the path stays as it was.
 */
import { setImmediate } from "node:timers/promises";
import { parseLine } from "../../domain/dataset.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { type Counts, countRows } from "../format/meta.ts";
import { createSchema } from "../format/schema.ts";
import { buildNameIndex } from "../name-index/build.ts";
import { type LineErrors, noErrors, type ReadOptions, readDataset } from "./dataset.ts";
import { createRowWriter } from "./rows.ts";
import { refuseEmpty, refuseShrinking } from "./shrink-guard.ts";
import { createSkippingWriter } from "./skip-invalid.ts";
import { writeSnapshot } from "./write.ts";

export interface ImportOptions extends ReadOptions {
  /** Leaves out lines that are wrong, and references to what is not there; see skip-invalid.ts. */
  skipInvalid?: boolean;
  /** A dataset without users and companies is no error. */
  allowEmpty?: boolean;
  /** More than half of the users or companies in the file that is replaced may go. */
  allowShrink?: boolean;
  /** The `built_at` of the snapshot: with the same one, a dataset gives the same bytes. Default now. */
  builtAtMs?: number | undefined;
  /** Called now and then after the last line with the share (0 to 1) of the search index that is built. */
  onIndexed?: (share: number) => void;
}

export interface Imported {
  counts: Counts;
  /** What `skipInvalid` left out. */
  skipped: LineErrors;
}

/**
 * Imports a dataset (NDJSON bytes, plain, gzip or zstd) as the snapshot file `target`. Throws a
 * `DatasetError` when lines are wrong, a `GuardError` when it holds too little, and what the file
 * system throws.
 */
export async function importDataset(
  input: AsyncIterable<Uint8Array>,
  target: string,
  options: ImportOptions = {},
): Promise<Imported> {
  const { skipInvalid = false, allowEmpty = false, allowShrink = false, onIndexed } = options;
  let skipped = noErrors();
  const fill = async (db: Sqlite) => {
    createSchema(db);
    const writer = skipInvalid ? createSkippingWriter(db) : createRowWriter(db);
    const read = await readDataset(input, { parse: parseLine, ...writer }, options);
    skipped = read.skipped;
    const counts = countRows(db);
    if (!allowEmpty) refuseEmpty(counts);
    if (!allowShrink) refuseShrinking(counts, target);
    for (const kind of ["company", "user"] as const) {
      for (const share of buildNameIndex(db, kind)) {
        if (kind === "user") onIndexed?.(share);
        // A signal that came meanwhile is heard here.
        await setImmediate();
      }
    }
    return read.sha256;
  };
  const counts = await writeSnapshot(target, "nothing", fill, options.builtAtMs);
  return { counts, skipped };
}
