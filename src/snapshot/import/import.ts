/** Builds a snapshot from a dataset, whose records are written in batches as they are read. */
import type { RecordSource } from "../../domain/record-source.ts";
import {
  type Paths,
  type ReplaceOptions,
  replaceLocked,
  withReplaceable,
} from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { finishFile } from "../format/header-trailer.ts";
import { checkSnapshot } from "../format/open.ts";
import { createSchema } from "../format/schema.ts";
import { RowWriter } from "./add-records.ts";
import { compare, type GuardOptions, refuseMostlyInvalid } from "./compare.ts";
import { type HoldOptions, holdTakedowns } from "./hold-takedowns.ts";
import { type IdOptions, Ids } from "./ids.ts";
import type { LineSource } from "./line-source.ts";
import { type LocatedSource, openSource, type SourceOptions } from "./open-source.ts";
import { type Read, type ReadOptions, readDataset } from "./read-dataset.ts";
import { SkippingWriter } from "./skip-invalid.ts";
import { readTarget, type Target } from "./target.ts";
import {
  type Counted,
  copyRows,
  finishDatabase,
  indexNames,
  serializeSnapshot,
  summarize,
  useDatabase,
  type WriteOptions,
} from "./write.ts";

export interface ImportOptions
  extends SourceOptions,
    ReadOptions,
    GuardOptions,
    HoldOptions,
    IdOptions,
    WriteOptions,
    ReplaceOptions {
  /** Whether to skip anything invalid in the dataset; see skip-invalid.ts. */
  skipInvalid?: boolean;
  /**
   * Whether to overwrite a file that is not an intact snapshot, or a snapshot whose ids belong to
   * others.
   */
  force?: boolean | undefined;
  /** Whether to report what an import would do, without changing `target`. */
  dryRun?: boolean | undefined;
}

/**
 * Imports a dataset into the snapshot file `target`, which stays unchanged if the import fails. For
 * a dry run, `target` may be empty, and then nothing is compared. Rejects with a `DatasetError` if a
 * record is invalid.
 */
export async function importDataset(
  dataset: LineSource | LocatedSource,
  target: string,
  options: ImportOptions = {},
): Promise<Counted> {
  const write = (paths: Paths) => writeImport(dataset, target, paths, options);
  if (!options.dryRun) {
    // Changes that arrive during an import wait for the lock, so the import cannot undo them.
    return replaceLocked(target, write, options);
  }
  const dry = (old: string) => write({ path: "", work: "", old });
  return target ? withReplaceable(target, dry) : dry("");
}

async function writeImport(
  dataset: LineSource | LocatedSource,
  name: string,
  { path, work, old }: Paths,
  options: ImportOptions,
): Promise<Counted> {
  const target = await readTarget(old, name, options);
  await using source = await openSource(dataset, options);
  using ids = await Ids.open(source.ids, target, options);
  const counted = await useDatabase(work, async (db) => {
    const read = await fill(db, source, ids, options);
    const outcome = { ...examine(db, read, target, options), ...read, notFound: [] };
    if (options.dryRun) return outcome;
    const { counts, unlocked, featured } = outcome;
    const summary = { counts, unlocked, featured, id_map: ids.mark() };
    await indexNames(db, options);
    finishDatabase(db, summary, options.builtAtMs);
    copyRows(db, path);
    return outcome;
  });

  if (options.dryRun) return counted;
  await finishFile(path);
  const { sha256 } = await checkSnapshot(path);
  ids.commit();
  return { ...counted, sha256 };
}

/** Holds takedowns and compares the result with the target. Throws if it looks like an accident. */
function examine(
  db: Database,
  { skipped }: Read,
  target: Target | undefined,
  options: ImportOptions,
) {
  const held = target ? holdTakedowns(db, target.takedowns) : 0;
  const summary = summarize(db);
  const { counts } = summary;
  if (counts.users === 0 && counts.companies === 0) {
    throw new Error("the dataset has no users and no companies; nothing was written");
  }
  refuseMostlyInvalid(skipped, summary, options);
  const differences = target && compare(db, target, summary, options);
  return { ...summary, differences, held };
}

/** Builds a snapshot in memory from a dataset, which may be empty. */
export async function buildSnapshot(
  dataset: LineSource,
  options: WriteOptions = {},
): Promise<Uint8Array> {
  await using source = await openSource(dataset, {});
  using ids = await Ids.open(source.ids, undefined, {});
  return await useDatabase(":memory:", async (db) => {
    await fill(db, source, ids, {});
    const summary = { ...summarize(db), id_map: ids.mark() };
    await indexNames(db, options);
    finishDatabase(db, summary, options.builtAtMs);
    return serializeSnapshot(db);
  });
}

function fill(db: Database, source: RecordSource, ids: Ids, options: ImportOptions): Promise<Read> {
  createSchema(db.$client);
  const writer = options.skipInvalid ? new SkippingWriter(db, ids) : new RowWriter(db, ids);
  return readDataset(source, writer, ids, options);
}
