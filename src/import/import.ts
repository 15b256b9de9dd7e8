/** Builds a snapshot from a dataset, whose records are written in batches as they are read. */
import { InvalidValue } from "../domain/invalid-value.ts";
import type { RecordReader } from "../domain/record-reader.ts";
import { naming, TEMPORARY_DATABASE } from "../files/errors.ts";
import { findFile, type Paths, type ReplaceOptions, replaceLocked } from "../files/replace.ts";
import type { TableOptions } from "../tables/open-tables.ts";
import { type GuardOptions, guardImport } from "./guard.ts";
import { type IdOptions, Ids } from "./ids.ts";
import type { LineOptions, LineSource } from "./line-reader.ts";
import { type FileNames, type OverwriteOptions, readOldSnapshot } from "./old-snapshot.ts";
import { openReader } from "./open-reader.ts";
import { type ReadOptions, type ReadReport, readDataset } from "./read-dataset.ts";
import { RowWriter } from "./row-writer.ts";
import { SkippingWriter } from "./skip-invalid.ts";
import { type BuildTime, type FinishOptions, SnapshotWriter } from "./snapshot-writer.ts";
import { findSource, type Source } from "./source.ts";
import { summarize } from "./summary.ts";
import { type HoldOptions, holdTakedowns } from "./takedowns.ts";
import type { WriteReport } from "./write-report.ts";

/** How to import a source that has been found. */
interface SourceOptions
  extends LineOptions,
    TableOptions,
    ReadOptions,
    GuardOptions,
    OverwriteOptions,
    HoldOptions,
    IdOptions,
    BuildTime,
    FinishOptions,
    ReplaceOptions {
  /** Whether to report what an import would do, and write nothing. */
  dryRun?: boolean | undefined;
  /** Whether to skip anything invalid in the dataset; see skip-invalid.ts. */
  skipInvalid?: boolean;
}

export interface ImportOptions extends SourceOptions {
  /** The folder with a SELECT for each table, if the source is a database. */
  queries?: string | undefined;
}

/**
 * Imports a dataset into the snapshot file `target`, which stays unchanged if the import fails. Only
 * a dry run may have no target, and then nothing is compared. Rejects with a `DatasetError` if a
 * record is invalid.
 */
export async function importDataset(
  dataset: LineSource,
  target: string | undefined,
  { queries, ...options }: ImportOptions = {},
): Promise<WriteReport> {
  return importSource(findNamed(dataset, queries), target, options);
}

/** Finds out what a dataset is. The error names the dataset as users of the library know it. */
function findNamed(dataset: LineSource, queries?: string): Source {
  try {
    return findSource(dataset, queries);
  } catch (error) {
    throw error instanceof InvalidValue ? new RangeError(`the source ${error.message}`) : error;
  }
}

/** Like {@link importDataset}. */
export async function importSource(
  source: Source,
  target: string | undefined,
  options: SourceOptions,
): Promise<WriteReport> {
  if (options.dryRun) return tryImport(source, target, options);
  if (target === undefined) throw new TypeError("only a dry run can have no target");

  const importOver = (paths: Paths) =>
    importInto(source, { name: target, path: paths.old }, paths, options);
  // Changes that arrive during an import wait for the lock, so the import cannot undo them.
  return replaceLocked(target, importOver, options);
}

/** Reports what an import would do. Writes no file but a temporary database. */
async function tryImport(
  source: Source,
  target: string | undefined,
  options: SourceOptions,
): Promise<WriteReport> {
  const names = target === undefined ? undefined : { name: target, path: await findFile(target) };
  return naming(TEMPORARY_DATABASE, "write", () => importInto(source, names, undefined, options));
}

/**
 * Builds the snapshot at `paths`, or for a dry run, which has none, a temporary one. Compares it with
 * the snapshot that has these names, if there is one.
 */
async function importInto(
  source: Source,
  names: FileNames | undefined,
  paths: Paths | undefined,
  options: SourceOptions,
): Promise<WriteReport> {
  const builtAtMs = options.builtAtMs ?? Date.now();
  const old = names && (await readOldSnapshot(names, builtAtMs, options));

  const idKind = options.idMap === undefined ? "integers" : "keys";
  await using reader = await openReader(source, idKind, options);
  using ids = await Ids.open(reader.ids, old, options);
  using writer = SnapshotWriter.create(paths?.work, old?.path, builtAtMs);

  const read = await fill(writer, reader, ids, options);
  const held = old ? holdTakedowns(writer.db, old.takedowns) : 0;
  const summary = summarize(writer.db);
  const differences = guardImport(writer.db, read.skipped, summary, old, options);

  const { counts, unlocked } = summary;
  const report: WriteReport = { ...read, counts, unlocked, differences, held, notFound: [] };
  if (paths === undefined) return report;
  return { ...report, sha256: await writer.toFile(paths, ids, summary, options) };
}

/** Builds a snapshot in memory from a dataset, which may be empty. */
export async function buildSnapshot(
  dataset: LineSource,
  { builtAtMs }: BuildTime = {},
): Promise<Uint8Array> {
  await using reader = await openReader(findNamed(dataset), "integers", {});
  using ids = await Ids.open(reader.ids, undefined, {});
  using writer = SnapshotWriter.createInMemory(builtAtMs);

  await fill(writer, reader, ids, {});
  return await writer.toBytes(ids, summarize(writer.db));
}

function fill(
  { db, builtAtMs }: SnapshotWriter,
  reader: RecordReader,
  ids: Ids,
  options: ReadOptions & Pick<SourceOptions, "skipInvalid" | "force">,
): Promise<ReadReport> {
  const handler = options.skipInvalid ? new SkippingWriter(db, ids) : new RowWriter(db, ids);
  return readDataset(reader, handler, ids, builtAtMs, {
    ...options,
    refusesRounded: !options.force,
  });
}
