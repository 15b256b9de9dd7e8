/**
 * Makes a snapshot of a dataset. Streams: a line is rows on disk before the next batch is read. The
 * snapshot appears at its path whole, or the path stays as it was.
 */
import { setImmediate } from "node:timers/promises";
import { replaceFile } from "../../files/replace.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { countRows } from "../format/meta.ts";
import { createSchema } from "../format/schema.ts";
import { buildNameIndex } from "../name-index/build.ts";
import { checkSnapshot } from "../read/check.ts";
import { type Lines, type ReadOptions, readDataset } from "./dataset.ts";
import { createRowWriter } from "./rows.ts";
import { refuseEmpty, refuseShrinking } from "./shrink-guard.ts";
import { createSkippingWriter } from "./skip-invalid.ts";
import { type Imported, writeSnapshot } from "./write.ts";

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

/**
 * Imports a dataset as the snapshot file `target`, whole or not at all. Rejects with a `DatasetError`
 * when lines are wrong, a `GuardError` when it holds too little, and what the file system throws.
 */
export async function importDataset(
  dataset: Lines,
  target: string,
  options: ImportOptions = {},
): Promise<Imported> {
  const fill = async (db: Sqlite) => {
    createSchema(db);
    const writer = options.skipInvalid ? createSkippingWriter(db) : createRowWriter(db);
    const read = await readDataset(dataset, writer, options);
    const counts = countRows(db);
    if (!options.allowEmpty) refuseEmpty(counts);
    if (!options.allowShrink) refuseShrinking(counts, target);
    for (const kind of ["company", "user"] as const) {
      for (const share of buildNameIndex(db, kind)) {
        if (kind === "user") options.onIndexed?.(share);
        // A signal that came meanwhile is heard here.
        await setImmediate();
      }
    }
    return read;
  };
  return replaceFile(target, async (path) => {
    const imported = await writeSnapshot(path, `${path}.database`, fill, options.builtAtMs);
    // With a million users, to read every byte again takes 0.2 s, and SQLite's own checks 2 s.
    await checkSnapshot(path);
    return imported;
  });
}
