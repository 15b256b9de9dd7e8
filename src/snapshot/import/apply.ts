/** Applies a change file to a copy of a snapshot, then replaces the snapshot with the copy. */
import { accessSync, constants, copyFileSync } from "node:fs";
import { type LockOptions, type Paths, replaceLocked } from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { type IdMap, openIdMap } from "../../tables/id-map.ts";
import { finishFile, TRAILER_BYTES } from "../format/file.ts";
import { countRows, readMeta } from "../format/meta.ts";
import { renewSeparators } from "../name-index/fts5-segment.ts";
import { namingErrors, openInPlace } from "../read/open.ts";
import { createRowChanger } from "./changes.ts";
import { refuseShrinking } from "./overwrite-guard.ts";
import { type LineSource, type ReadOptions, readDataset } from "./read-dataset.ts";
import { type Counted, finishDatabase, serializeSnapshot, useDatabase } from "./write.ts";

export interface ApplyOptions extends ReadOptions, LockOptions {}

/**
 * Applies either all changes to the snapshot file `target` or none. Rejects with a `DatasetError`
 * if a line is invalid, and with a `SnapshotError` if `target` is not a valid snapshot.
 */
export async function applyChanges(
  changes: LineSource,
  target: string,
  options: ApplyOptions = {},
): Promise<Counted> {
  const apply = async ({ path, old }: Paths) => {
    await namingErrors(target, async () => accessSync(old, constants.R_OK));
    copyFileSync(old, path, constants.COPYFILE_FICLONE);
    // Verifies the copy rather than the original, which may have changed since it was copied.
    await namingErrors(target, async () => (await openInPlace(path)).close());
    using idMap = await openIdMap(options, target);
    const counted = await useDatabase(path, (db) => change(db, changes, options, target, idMap));
    await finishFile(path);
    // Before the file is replaced, so that no id that was served is lost.
    idMap?.commit();
    return counted;
  };
  return replaceLocked(target, apply, options);
}

/** Applies changes to the bytes of a snapshot, and returns the bytes of the new snapshot. */
export function changeSnapshot(snapshot: Uint8Array, changes: LineSource): Promise<Uint8Array> {
  return useDatabase(snapshot.subarray(0, -TRAILER_BYTES), async (db) => {
    await change(db, changes, { allowShrink: true });
    return serializeSnapshot(db);
  });
}

async function change(
  db: Database,
  changes: LineSource,
  options: ReadOptions,
  target = "",
  idMap?: IdMap,
): Promise<Counted> {
  const before = readMeta(db);
  db.$client.exec("PRAGMA secure_delete = ON");
  const changer = createRowChanger(db, idMap);
  const read = await readDataset(changes, changer.handler, options);
  const counts = countRows(db);
  if (!options.allowShrink) refuseShrinking(target, before.counts, counts);
  const candidates = changer.listFeaturedCandidates(before.featured);
  await finishDatabase(db, counts, changer.finishNames(), {}, candidates);
  for (const kind of ["user", "company"]) renewSeparators(db.$client, `${kind}_ngram`);
  return { counts, ...read };
}
