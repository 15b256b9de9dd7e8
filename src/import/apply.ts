/**
 * Applies the lines of a change file to a copy of a snapshot, then replaces the snapshot with the
 * copy. References are checked after the last line, so a record may be deleted before or after its
 * last reference is removed.
 */
import { access, chmod, constants, stat } from "node:fs/promises";
import type { RecordReader } from "../domain/record-reader.ts";
import { copyIfSpace } from "../files/disk-space.ts";
import { isMissing, type Paths, type ReplaceOptions, replaceLocked } from "../files/replace.ts";
import { parseHeader } from "../snapshot/format/layout.ts";
import { countRows } from "../snapshot/format/meta.ts";
import { namingSnapshot } from "../snapshot/format/snapshot-error.ts";
import { ChangeWriter } from "./change-writer.ts";
import type { ChangedIds } from "./comparison.ts";
import { type GuardOptions, guardChanges } from "./guard.ts";
import { type IdOptions, Ids } from "./ids.ts";
import { type LineOptions, LineReader, type LineSource } from "./line-reader.ts";
import { describeOldSnapshot, type OldSnapshot, verifyOldSnapshot } from "./old-snapshot.ts";
import { type ReadOptions, type ReadReport, readDataset } from "./read-dataset.ts";
import { type BuildTime, SnapshotWriter } from "./snapshot-writer.ts";
import { findFeatured, type Summary } from "./summary.ts";
import type { WriteReport } from "./write-report.ts";

export interface ApplyOptions
  extends LineOptions,
    ReadOptions,
    BuildTime,
    IdOptions,
    ReplaceOptions,
    Pick<GuardOptions, "allowShrink"> {}

/**
 * Applies either all changes to the snapshot file `target` or none. Rejects with a `DatasetError`
 * if a line is invalid, and with a `SnapshotError` if `target` is not a valid snapshot.
 */
export function applyChanges(
  changes: LineSource,
  target: string,
  options: ApplyOptions = {},
): Promise<WriteReport> {
  return replaceExisting(target, options, async (paths) => {
    await using reader = await LineReader.open(changes, options);
    const old = await copyVerified(target, paths, options);
    using ids = await Ids.open(reader.ids, old, options);
    using writer = SnapshotWriter.change(paths.work, paths.old, options.builtAtMs);

    return await applyTo({ paths, writer, ids, old }, reader, options);
  });
}

/** Applies changes to the bytes of a snapshot, and returns the bytes of the new snapshot. */
export async function changeSnapshot(
  snapshot: Uint8Array,
  changes: LineSource,
): Promise<Uint8Array> {
  const databaseBytes = parseHeader(snapshot, snapshot.length);
  using writer = SnapshotWriter.changeInMemory(snapshot.subarray(0, databaseBytes));
  const old = describeOldSnapshot(writer.db, { name: "the snapshot" }, writer.builtAtMs);
  await using reader = await LineReader.open(changes, {});
  using ids = await Ids.open(reader.ids, old, {});

  const { summary } = await changeRows({ writer, ids, old }, reader, {});
  return await writer.toBytes(ids, summary);
}

/** A verified copy of a snapshot file, to which changes are applied. */
export interface Copy {
  paths: Paths;
  writer: SnapshotWriter;
  ids: Ids;
  /** The snapshot that was copied. */
  old: OldSnapshot;
}

export async function replaceExisting<T>(
  target: string,
  options: ReplaceOptions,
  write: (paths: Paths) => Promise<T>,
): Promise<T> {
  // The lock file beside a name that was mistyped would stay. A first import may have one, too.
  await namingSnapshot(target, async () => {
    if (isMissing(target)) await access(target);
  });
  return replaceLocked(target, write, options);
}

/** Copies the snapshot file `name`, and reads what the changes must know about it. */
export async function copyVerified(
  name: string,
  { work, old }: Paths,
  { builtAtMs = Date.now() }: BuildTime,
): Promise<OldSnapshot> {
  await namingSnapshot(name, () => access(old, constants.R_OK));
  const { size } = await stat(old);
  await copyIfSpace(old, work, size);
  // The copy has the mode of the original, which may forbid writing.
  await chmod(work, 0o600);
  // Verifies the copy rather than the original, which may have changed since it was copied.
  return verifyOldSnapshot(work, { name, path: old }, builtAtMs);
}

/** Applies changes to a copy, which becomes the new file. */
export async function applyTo(
  copy: Copy,
  reader: RecordReader,
  options: ApplyOptions,
): Promise<WriteReport> {
  const { paths, writer, ids, old } = copy;
  const { read, summary, changed, notFound } = await changeRows(copy, reader, options);

  const differences = guardChanges(writer.db, changed, summary, old, options);
  const sha256 = await writer.toFile(paths, ids, summary);

  const { counts, unlocked } = summary;
  return { ...read, counts, unlocked, differences, held: 0, notFound, sha256 };
}

/** The outcome of changing the rows. */
interface ChangedRows extends Pick<ChangeWriter, "notFound"> {
  read: ReadReport;
  summary: Summary;
  changed: ChangedIds;
}

/** Applies changes to the rows and the name indexes of a copy. */
async function changeRows(
  { writer, ids, old }: Omit<Copy, "paths">,
  reader: RecordReader,
  options: ReadOptions,
): Promise<ChangedRows> {
  const { db, builtAtMs } = writer;
  const changes = new ChangeWriter(db, ids, builtAtMs);
  const read = await readDataset(reader, changes, ids, builtAtMs, options);
  changes.indexNames();

  const { positionOf, notFound } = changes;
  const changed = { users: [...positionOf.user.keys()], companies: [...positionOf.company.keys()] };
  // Anyone can be featured if an achievement or a featured user has changed.
  const isAnyone =
    positionOf.achievement.size > 0 || old.featured.some((id) => positionOf.user.has(id));
  const among = isAnyone ? undefined : [...old.featured, ...changed.users];
  const summary = {
    counts: countRows(db),
    unlocked: old.unlocked + changes.unlocked,
    featured: findFeatured(db, among),
  };
  return { read, summary, changed, notFound };
}
