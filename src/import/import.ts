/**
 * Builds a snapshot from a dataset:
 *
 *     const { counts } = await importDataset("community.ndjson", "community.snapshot");
 *
 * The way of a user whose id is a UUID:
 *
 * | file | the user there |
 * |---|---|
 * | source.ts | a line of NDJSON, or a row that src/tables has turned into the same record: `{"type":"user","id":"3f25…","public":true,"name":" Ann ",…}` |
 * | ids.ts | the id map says that `3f25…` is 7 |
 * | clean-record.ts | the name is "Ann" |
 * | row-writer.ts | valid, so a row of the table `user`; a private user is an id in `private_user` |
 * | handle-records.ts | after the last record: the user's company, roles and achievements exist |
 * | old-snapshot.ts | not hidden by `hide` or `apply` in the last hour |
 * | guard.ts | most of those who were public still are, under their names |
 * | snapshot-writer.ts | found by n-grams of the name; the file is complete |
 */
import { sqlite } from "#sqlite";
import { InvalidValue } from "../domain/invalid-value.ts";
import { naming, TEMPORARY_DATABASE } from "../files/errors.ts";
import { findFile, type Paths, replaceLocked } from "../files/replace.ts";
import { summarize } from "../snapshot/format/meta.ts";
import { guard, refuseEmpty, type WriteReport } from "./guard.ts";
import { createSkippingHandler, createStrictHandler } from "./handle-records.ts";
import { openIds } from "./ids.ts";
import type { LineSource } from "./line-reader.ts";
import { holdTakedowns, type OldNames, readOldSnapshot } from "./old-snapshot.ts";
import type { ImportOptions } from "./options.ts";
import { readDataset } from "./read-dataset.ts";
import { createSnapshotWriter } from "./snapshot-writer.ts";
import { findSource, openReader, type Source } from "./source.ts";

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
    const old = target === undefined ? undefined : { name: target, path: findFile(target) };
    return naming(TEMPORARY_DATABASE, "write", () => importInto(source, old, undefined, options));
  }

  if (target === undefined) throw new TypeError("only a dry run can have no target");
  // Changes that arrive during an import wait for the lock, so the import cannot undo them.
  return replaceLocked(
    target,
    (paths) => importInto(source, { name: target, path: paths.old }, paths, options),
    options,
  );
}

/** Finds out what a dataset is. The error names the dataset as users of the library know it. */
function findNamed(dataset: LineSource, queries?: string): Source {
  try {
    return findSource(dataset, queries);
  } catch (error) {
    throw error instanceof InvalidValue ? new RangeError(`the source ${error.message}`) : error;
  }
}

/**
 * Builds the snapshot at `paths`, or for a dry run, which has none, a temporary one. Compares it with
 * the snapshot that has these names, if there is one.
 */
async function importInto(
  source: Source,
  names: OldNames | undefined,
  paths: Paths | undefined,
  options: ImportOptions,
): Promise<WriteReport> {
  const builtAtMs = options.builtAtMs ?? Date.now();
  const old = names && (await readOldSnapshot(names, builtAtMs, options));

  await using reader = await openReader(source, options);
  using ids = await openIds(reader.ids, old, options);
  const file = paths ? sqlite.openWritable(paths.work) : sqlite.openTemporary();
  using writer = createSnapshotWriter(file, { builtAtMs, isNew: true, old: old?.path });

  const { db } = writer;
  const handler = options.skipInvalid
    ? createSkippingHandler(db, ids)
    : createStrictHandler(db, ids);
  const reading = { ...options, refusesRounded: !options.force };
  const read = await readDataset(reader, handler, ids, builtAtMs, reading);

  const held = old ? holdTakedowns(db, old.takedowns) : 0;
  const summary = summarize(db);
  refuseEmpty(summary, read.skipped, old, options);
  const differences = old && guard(db, old, summary, options);

  const sha256 = paths && (await writer.toFile(paths, ids, summary, options.onIndexed));
  const { counts, unlocked } = summary;
  return { ...read, counts, unlocked, differences, held, notFound: [], sha256 };
}

/** Builds a snapshot in memory from a dataset, which may be empty. */
export async function buildSnapshot(
  dataset: LineSource,
  { builtAtMs = Date.now() }: Pick<ImportOptions, "builtAtMs"> = {},
): Promise<Uint8Array> {
  await using reader = await openReader(findNamed(dataset), {});
  using ids = await openIds(reader.ids, undefined, {});
  using writer = createSnapshotWriter(sqlite.openMemory(), { builtAtMs, isNew: true });

  const { db } = writer;
  await readDataset(reader, createStrictHandler(db, ids), ids, builtAtMs, { refusesRounded: true });
  return await writer.toBytes(ids, summarize(db));
}
