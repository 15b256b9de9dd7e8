/** Builds a snapshot from a dataset, whose lines are written in batches as they are read. */
import { existsSync } from "node:fs";
import { sql } from "drizzle-orm";
import { findReplaceable, type LockOptions, replaceLocked } from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { type IdMap, openIdMap } from "../../tables/id-map.ts";
import { openTables, type TableOptions } from "../../tables/read-tables.ts";
import { finishFile } from "../format/file.ts";
import { countTotals } from "../format/meta.ts";
import { createSchema } from "../format/schema.ts";
import { checkSnapshot } from "../format/verify.ts";
import { clearUnused } from "./forget.ts";
import { compare, refuseForeign, refuseOlderMap } from "./overwrite-guard.ts";
import { type LineSource, type Read, type ReadOptions, readDataset } from "./read-dataset.ts";
import { RowWriter } from "./rows.ts";
import { SkippingWriter } from "./skip-invalid.ts";
import { holdTakedowns } from "./takedowns.ts";
import {
  type Counted,
  finishDatabase,
  serializeSnapshot,
  useDatabase,
  type WriteOptions,
} from "./write.ts";

export interface ImportOptions extends ReadOptions, WriteOptions, LockOptions, TableOptions {
  /** Whether to skip anything invalid in the dataset; see skip-invalid.ts. */
  skipInvalid?: boolean;
  /** Whether to accept a dataset that has neither users nor companies. */
  allowEmpty?: boolean;
  /** How long to keep to a takedown by `apply` or `hide`. Defaults to an hour, the maximum. */
  holdMs?: number | undefined;
  /** Whether to overwrite a file that is not a snapshot. */
  force?: boolean | undefined;
  /** Whether to report what an import would do, without changing `target`. */
  dryRun?: boolean | undefined;
}

/**
 * Imports a dataset into the snapshot file `target`, which stays unchanged if the import fails. For
 * a dry run, `target` may be empty, and then nothing is compared. Rejects with a `DatasetError` if a
 * line is invalid.
 */
export async function importDataset(
  dataset: LineSource,
  target: string,
  options: ImportOptions = {},
): Promise<Counted> {
  const { dryRun, force, allowEmpty, builtAtMs = Date.now(), holdMs } = options;
  const openMap = async (old: string) => {
    const idMap = await openIdMap(options, !force && existsSync(old) ? target : undefined);
    if (idMap && !force) refuseOlderMap(idMap, old, target, options);
    return idMap;
  };
  /** Fills a database that will replace `file`. */
  const fillInstead = async (db: Database, file: string, idMap?: IdMap): Promise<Counted> => {
    if (!force && existsSync(file)) await refuseForeign(file, target);
    const read = await fill(db, dataset, options, idMap);
    const held = holdTakedowns(db, file, builtAtMs, holdMs);
    const totals = countTotals(db);
    const { counts } = totals;
    if (!allowEmpty && counts.users === 0 && counts.companies === 0) {
      throw new Error("the dataset has no users and no companies; nothing was written");
    }
    const differences = compare(db, file, target, totals, options);
    return { ...totals, differences, held, notFound: [], ...read };
  };
  if (dryRun) {
    const file = target && findReplaceable(target);
    using idMap = await openMap(file);
    return await useDatabase("", (db) => fillInstead(db, file, idMap));
  }
  // Changes that arrive during an import wait for the lock, so the import cannot undo them.
  return replaceLocked(
    target,
    async ({ path, work, old }) => {
      using idMap = await openMap(old);
      const counted = await useDatabase(work, async (db) => {
        const counted = await fillInstead(db, old, idMap);
        await finishDatabase(db, counted, ["company", "user"], options);
        // Copies rows, not pages, so freed pages, which may hold deleted data, are left behind.
        db.run(sql`VACUUM INTO ${path}`);
        return counted;
      });
      await finishFile(path, clearUnused);
      const { sha256 } = await checkSnapshot(path);
      // Before the file is replaced, so that no id that was served is lost.
      idMap?.commit();
      return { ...counted, sha256 };
    },
    options,
  );
}

/** Builds a snapshot in memory from a dataset, which may be empty. */
export function buildSnapshot(
  dataset: LineSource,
  options: WriteOptions = {},
): Promise<Uint8Array> {
  return useDatabase(":memory:", async (db) => {
    await fill(db, dataset, {});
    await finishDatabase(db, countTotals(db), ["company", "user"], options);
    return serializeSnapshot(db);
  });
}

async function fill(
  db: Database,
  dataset: LineSource,
  options: ImportOptions,
  idMap?: IdMap,
): Promise<Read> {
  await using tables = await openTables(dataset, options);
  createSchema(db.$client);
  const writer = new (options.skipInvalid ? SkippingWriter : RowWriter)(db, idMap);
  const read = await readDataset(tables ?? dataset, writer, options);
  read.skipped.hidden = writer.hidden;
  return read;
}
