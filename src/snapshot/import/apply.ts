/** Applies changes to a copy of a snapshot, then replaces the snapshot with the copy. */
import { accessSync, constants, copyFileSync } from "node:fs";
import { type LockOptions, type Paths, replaceLocked } from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { finishFile, TRAILER_BYTES } from "../format/file.ts";
import { countTotals, readMeta } from "../format/meta.ts";
import { renewSeparators } from "../name-index/fts5-segment.ts";
import { namingErrors, openInPlace } from "../read/open.ts";
import { createRowChanger } from "./changes.ts";
import { compare } from "./overwrite-guard.ts";
import { type LineSource, type ReadOptions, readDataset } from "./read-dataset.ts";
import { type Counted, finishDatabase, serializeSnapshot, useDatabase } from "./write.ts";

export interface ApplyOptions extends ReadOptions, LockOptions {
  /** The time of the takedowns among the changes. Defaults to now. */
  builtAtMs?: number | undefined;
}

export type HideOptions = LockOptions & Pick<ApplyOptions, "builtAtMs">;

/**
 * Applies either all changes to the snapshot file `target` or none. Rejects with a `DatasetError`
 * if a line is invalid, and with a `SnapshotError` if `target` is not a valid snapshot. An error
 * from `onOpen`, which is called before the first change, also leaves `target` as it was.
 */
export async function applyChanges(
  changes: LineSource,
  target: string,
  options: ApplyOptions = {},
  onOpen?: (db: Database) => void,
): Promise<Counted> {
  const apply = async ({ path, old }: Paths) => {
    await namingErrors(target, async () => accessSync(old, constants.R_OK));
    copyFileSync(old, path, constants.COPYFILE_FICLONE);
    // Verifies the copy rather than the original, which may have changed since it was copied.
    await namingErrors(target, async () => (await openInPlace(path)).close());
    const counted = await useDatabase(path, async (db) => {
      onOpen?.(db);
      return change(db, changes, options, target, old);
    });
    await finishFile(path);
    return counted;
  };
  return replaceLocked(target, apply, options);
}

/**
 * Makes users private in the snapshot file `target`, or rejects if one of them does not exist. An
 * import keeps to this for an hour, for users who were private before as well.
 */
export async function hideUsers(
  ids: readonly number[],
  target: string,
  options: HideOptions = {},
): Promise<Record<"madePrivate" | "alreadyPrivate", number[]>> {
  const unique = [...new Set(ids)];
  const found = { madePrivate: [] as number[], alreadyPrivate: [] as number[] };
  const find = ({ $client }: Database) => {
    const listIn = (table: string) => {
      const row = $client.prepare(`SELECT id FROM ${table} WHERE id = ?`);
      return unique.filter((id) => row.get(id));
    };
    Object.assign(found, { madePrivate: listIn("user"), alreadyPrivate: listIn("private_user") });
    const unknown = new Set(unique).difference(new Set(Object.values(found).flat()));
    if (unknown.size === 0) return;
    const users = Array.from(unknown, (id) => `user ${id}`).join(", ");
    throw new Error(`not found in ${target}: ${users}; nothing was written`);
  };
  const lines = unique.map((id) => ({ type: "user", id, public: false }));
  await applyChanges(lines, target, { ...options, allowShrink: true }, find);
  return found;
}

/** Applies changes to the bytes of a snapshot, and returns the bytes of the new snapshot. */
export function changeSnapshot(snapshot: Uint8Array, changes: LineSource): Promise<Uint8Array> {
  return useDatabase(snapshot.subarray(0, -TRAILER_BYTES), async (db) => {
    await change(db, changes, {});
    return serializeSnapshot(db);
  });
}

async function change(
  db: Database,
  changes: LineSource,
  { builtAtMs = Date.now(), ...options }: ApplyOptions,
  target = "",
  old?: string,
): Promise<Counted> {
  const before = readMeta(db);
  db.$client.exec("PRAGMA secure_delete = ON");
  const changer = createRowChanger(db, builtAtMs);
  const read = await readDataset(changes, changer.handler, options);
  const totals = countTotals(db);
  const guard = { ...options, allowReveal: true };
  const differences = old === undefined ? old : compare(db, old, target, totals, guard);
  const candidates = changer.listFeaturedCandidates(before.featured);
  await finishDatabase(db, totals, changer.finishNames(), { builtAtMs }, candidates);
  for (const kind of ["user", "company"]) renewSeparators(db.$client, `${kind}_ngram`);
  return { ...totals, differences, held: 0, notFound: changer.notFound, ...read };
}
