/**
 * Builds a snapshot from a dataset:
 *
 *     const { counts } = await importDataset("community.ndjson", "community.snapshot");
 *
 * ../snapshot/README.md has the steps, with the files in which they are.
 */
import { setImmediate } from "node:timers/promises";
import { sqlite } from "#sqlite";
import { InvalidValue, UsageError } from "../domain/invalid-value.ts";
import { nameKinds } from "../domain/model.ts";
import type { MissingRecord } from "../domain/records.ts";
import { naming, TEMPORARY_DATABASE } from "../files/errors.ts";
import { replaceFile } from "../files/replace.ts";
import { buildNameIndex } from "../search/name-index.ts";
import { type Contents, summarize, type Totals, writeMeta } from "../snapshot/format/meta.ts";
import { createIndexes, createSchema } from "../snapshot/format/schema.ts";
import type { Database } from "../sqlite/driver.ts";
import type { CleaningOptions } from "./clean-record.ts";
import { type Allowances, type Differences, guard, refuseEmpty } from "./guard.ts";
import { openIdMap } from "./id-map.ts";
import { createIds } from "./ids.ts";
import type { LineSource } from "./line-reader.ts";
import { type ReadReport, readDataset } from "./read-dataset.ts";
import type { ErrorOptions } from "./record-errors.ts";
import { createSkippingHandler } from "./skip-invalid.ts";
import { findSource, openReader, type Source, type SourceOptions } from "./source.ts";
import { holdTakedowns } from "./takedowns.ts";
import {
  beginWriting,
  type OldOptions,
  type OldSnapshot,
  readOldFile,
  sealInMemory,
  sealNew,
  type WriteOptions,
} from "./target.ts";
import { createRows } from "./write-rows.ts";

/** Most of these are flags of the command, too. */
export interface ImportOptions
  extends WriteOptions,
    SourceOptions,
    CleaningOptions,
    ErrorOptions,
    OldOptions,
    Allowances {
  /** The folder with a SELECT for each table, if the source is a database. */
  queries?: string | undefined;
  /** Whether to report what an import would do, and write nothing. */
  dryRun?: boolean | undefined;
  /** Called repeatedly while the index of user names is built, with the progress (0 to 1). */
  onIndexed?: ((share: number) => void) | undefined;
}

/** The report on a snapshot that `import` or `apply` has written. */
export interface WriteReport extends ReadReport, Totals {
  /** The checksum of the new snapshot; undefined for a dry run. */
  sha256?: string | undefined;
  /** Undefined if the file is new or nothing could be compared. */
  differences: Differences | undefined;
  /** How many users an import kept private or deleted, although the dataset says otherwise. */
  held?: number | undefined;
  /** The records that a change file deletes and that do not exist. */
  notFound?: readonly MissingRecord[];
}

/**
 * Imports a dataset into the snapshot file `target`, which stays unchanged if the import fails. Only
 * a dry run may have no target, and then nothing is compared. Rejects with a `DatasetError` if a
 * record is invalid.
 */
export async function importDataset(
  dataset: LineSource,
  target: string | undefined,
  options: ImportOptions = {},
): Promise<WriteReport> {
  const source = findNamed(dataset, options.queries);
  if (options.dryRun) {
    const write = () => importInto(source, target, undefined, options);
    return naming(TEMPORARY_DATABASE, "write", write);
  }

  if (target === undefined) throw new TypeError("only a dry run can have no target");
  // Changes that arrive during an import wait for the lock, so the import cannot undo them.
  return replaceFile(target, ({ next }) => importInto(source, target, next, options), options);
}

/** Finds out what a dataset is. The error names the dataset as users of the library know it. */
function findNamed(dataset: LineSource, queries?: string): Source {
  try {
    return findSource(dataset, queries);
  } catch (error) {
    throw error instanceof InvalidValue ? new UsageError(`the source ${error.message}`) : error;
  }
}

/**
 * Builds the snapshot `next` or, for a dry run, which has no path for it, a temporary one. Compares it
 * with the snapshot at `target`, if there is one.
 */
async function importInto(
  source: Source,
  target: string | undefined,
  next: string | undefined,
  options: ImportOptions,
): Promise<WriteReport> {
  const nowMs = options.builtAtMs ?? Date.now();
  const old = target === undefined ? undefined : await readOldFile(target, nowMs, options);
  const db = next ? sqlite.openWritable(`${next}.draft`) : sqlite.openTemporary();
  using _open = beginWriting(db, old?.path);
  const { report, contents } = await readAndCompare(db, source, old, nowMs, options);
  if (next === undefined) return report;

  await addIndexesAndMeta(db, contents, nowMs, options.onIndexed);
  return { ...report, sha256: await sealNew(db, next) };
}

/**
 * Reads the records of a source into an empty database, and compares them with the snapshot `old`, which is
 * attached if there is one. The temporary files of the source are gone before the indexes and the new file take space.
 */
async function readAndCompare(
  db: Database,
  source: Source,
  old: OldSnapshot | undefined,
  nowMs: number,
  options: ImportOptions,
): Promise<{ report: WriteReport; contents: Contents }> {
  await using reader = await openReader(source, options);
  using map = await openIdMap(options.idMap, options);
  const ids = createIds(reader.ids, old, map, options.force);
  createSchema(db.$client);
  const handler = options.skipInvalid ? createSkippingHandler(db, ids) : createRows(db, ids);
  const reading = { ...options, takesRounded: options.force };
  const read = await readDataset(reader, handler, ids, nowMs, reading);

  const held = old && holdTakedowns(db, { nowMs, holdMs: options.holdMs });
  const summary = summarize(db);
  refuseEmpty(summary, read, old, options.allowShrink);
  const differences = old && guard(db, old, summary, options);
  const { counts, unlocked } = summary;
  const report = { ...read, counts, unlocked, differences, held };
  // Before the indexes, which take long, because the id map may be on a full disk.
  const id_map = options.dryRun ? undefined : await ids.commit();
  return { report, contents: { ...summary, id_map } };
}

/** Builds a snapshot in memory from a dataset, which may be empty. */
export async function buildSnapshot(
  dataset: LineSource,
  { builtAtMs = Date.now() } = {},
): Promise<Uint8Array> {
  const db = sqlite.openMemory();
  using _open = beginWriting(db);
  await using reader = await openReader(findNamed(dataset));
  const ids = createIds(reader.ids);
  createSchema(db.$client);
  await readDataset(reader, createRows(db, ids), ids, builtAtMs);
  await addIndexesAndMeta(db, { ...summarize(db), id_map: await ids.commit() }, builtAtMs);
  return sealInMemory(db);
}

/** Adds what a snapshot has beside its rows. */
async function addIndexesAndMeta(
  db: Database,
  contents: Contents,
  nowMs: number,
  onIndexed?: ImportOptions["onIndexed"],
): Promise<void> {
  for (const kind of nameKinds) {
    for (const done of buildNameIndex(db.$client, kind)) {
      if (kind === "user") onIndexed?.(done / contents.counts.public_users);
      // Lets the event loop handle pending signals.
      await setImmediate();
    }
  }
  createIndexes(db.$client);
  writeMeta(db, contents, nowMs);
}
