/** Builds a snapshot from a dataset, whose lines are written in batches as they are read. */
import { existsSync } from "node:fs";
import { sql } from "drizzle-orm";
import {
  type Paths,
  type ReplaceOptions,
  replaceLocked,
  withReplaceable,
} from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { type IdMap, openIdMap } from "../../tables/id-map.ts";
import { openTables, type TableOptions } from "../../tables/read-tables.ts";
import { finishFile, isSnapshot } from "../format/header-trailer.ts";
import { checkSnapshot } from "../format/open.ts";
import { createSchema } from "../format/schema.ts";
import { createRowWriter } from "./add-records.ts";
import { clearUnused } from "./forget.ts";
import { holdTakedowns } from "./hold-takedowns.ts";
import { compare, findUnmappedUser, notOverwritten, refuseOlderMap } from "./overwrite-guard.ts";
import { type LineSource, type Read, type ReadOptions, readDataset } from "./read-dataset.ts";
import { createSkippingWriter } from "./skip-invalid.ts";
import {
  type Counted,
  finishDatabase,
  serializeSnapshot,
  summarize,
  useDatabase,
  type WriteOptions,
} from "./write.ts";

export interface ImportOptions extends ReadOptions, WriteOptions, ReplaceOptions, TableOptions {
  /** Whether to skip anything invalid in the dataset; see skip-invalid.ts. */
  skipInvalid?: boolean;
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
  const { dryRun, force, builtAtMs = Date.now(), holdMs } = options;
  const write = async ({ path, work, old }: Paths): Promise<Counted> => {
    const isReplaced = !force && existsSync(old);
    if (isReplaced && !(await isSnapshot(old))) {
      throw new Error(notOverwritten(target, "a Roadbook snapshot"));
    }
    using idMap = await openIdMap(options, isReplaced ? target : undefined);
    if (idMap && !force) refuseOlderMap(idMap, old, target, options);
    const isOtherMap = idMap && findUnmappedUser(idMap, old) !== undefined;
    const counted = await useDatabase(work, async (db) => {
      const read = await fill(db, dataset, options, idMap);
      const held = holdTakedowns(db, old, builtAtMs, holdMs, isOtherMap);
      const summary = summarize(db);
      const { counts, unlocked } = summary;
      if (counts.users === 0 && counts.companies === 0) {
        throw new Error("the dataset has no users and no companies; nothing was written");
      }
      const differences = compare(db, old, target, summary, options);
      if (!dryRun) {
        await finishDatabase(db, summary, ["company", "user"], options);
        // Copies rows, not pages, so freed pages, which may hold deleted data, are left behind.
        db.run(sql`VACUUM INTO ${path}`);
      }
      return { counts, unlocked, differences, held, notFound: [], ...read };
    });
    if (dryRun) return counted;
    await finishFile(path, clearUnused);
    const { sha256 } = await checkSnapshot(path);
    // Before the file is replaced, so that no id that was served is lost.
    idMap?.commit();
    return { ...counted, sha256 };
  };
  const dry = (old: string) => write({ path: "", work: "", old });
  if (dryRun) return target ? withReplaceable(target, dry) : dry("");
  // Changes that arrive during an import wait for the lock, so the import cannot undo them.
  return replaceLocked(target, write, options);
}

/** Builds a snapshot in memory from a dataset, which may be empty. */
export function buildSnapshot(
  dataset: LineSource,
  options: WriteOptions = {},
): Promise<Uint8Array> {
  return useDatabase(":memory:", async (db) => {
    await fill(db, dataset, {});
    await finishDatabase(db, summarize(db), ["company", "user"], options);
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
  const createWriter = options.skipInvalid ? createSkippingWriter : createRowWriter;
  return await readDataset(tables ?? dataset, createWriter(db, idMap), options);
}
