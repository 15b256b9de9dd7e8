/** Applies changes to a copy of a snapshot, then replaces the snapshot with the copy. */
import { accessSync, constants, copyFileSync } from "node:fs";
import { sql } from "drizzle-orm";
import { type LockOptions, type Paths, replaceLocked } from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { type IdMap, openIdMap } from "../../tables/id-map.ts";
import { finishFile, parseHeader } from "../format/header-trailer.ts";
import { countTotals, readMeta } from "../format/meta.ts";
import { namingErrors, verifyFile } from "../format/open.ts";
import { privateUser, user } from "../format/schema.ts";
import { createRowChanger } from "./changes.ts";
import { clearUnused } from "./forget.ts";
import { compare, refuseOlderMap } from "./overwrite-guard.ts";
import { type LineSource, type ReadOptions, readDataset } from "./read-dataset.ts";
import { type Counted, finishDatabase, serializeSnapshot, useDatabase } from "./write.ts";

export interface ApplyOptions extends ReadOptions, LockOptions {
  /** The time of the takedowns among the changes. Defaults to now. */
  builtAtMs?: number | undefined;
}

/** The lines of a change file, or a function that derives them from the snapshot. */
type ChangeSource = LineSource | ((db: Database, idMap?: IdMap) => object[]);

/**
 * Applies either all changes to the snapshot file `target` or none. Rejects with a `DatasetError`
 * if a line is invalid, and with a `SnapshotError` if `target` is not a valid snapshot.
 */
export async function applyChanges(
  changes: ChangeSource,
  target: string,
  options: ApplyOptions = {},
): Promise<Counted> {
  const apply = async ({ path, old }: Paths) => {
    await namingErrors(target, async () => accessSync(old, constants.R_OK));
    copyFileSync(old, path, constants.COPYFILE_FICLONE);
    // Verifies the copy rather than the original, which may have changed since it was copied.
    await namingErrors(target, () => verifyFile(path));
    using idMap = await openIdMap(options, target);
    if (idMap) refuseOlderMap(idMap, old, target, options);
    const run = (db: Database) => change(db, changes, options, target, old, idMap);
    const counted = await useDatabase(path, run);
    const sha256 = await finishFile(path, clearUnused);
    // Before the file is replaced, so that no id that was served is lost.
    idMap?.commit();
    return { ...counted, sha256 };
  };
  return replaceLocked(target, apply, options);
}

/** Finds each user once. If there is none, neither table has it. */
function findUsers(db: Database, ids: Iterable<number | string>) {
  const isIn = (table: typeof user | typeof privateUser) =>
    sql<number>`value IN (SELECT id FROM ${table})`;
  return db
    .selectDistinct({
      id: sql<number | string>`value`,
      is_public: isIn(user),
      is_private: isIn(privateUser),
    })
    .from(sql`json_each(${JSON.stringify([...ids])})`)
    .all();
}

/**
 * Makes users private in the snapshot file `target`, and returns them as they were. Rejects if one
 * of them does not exist. An import keeps to this for an hour, even for those already private.
 */
export async function hideUsers(
  ids: readonly (number | string)[],
  target: string,
  options: ApplyOptions = {},
): Promise<Counted & { found: ReturnType<typeof findUsers> }> {
  let found: ReturnType<typeof findUsers> = [];
  const listChanges = (db: Database, idMap?: IdMap) => {
    // Each id that is not in the map gets a number that no user has.
    const idOf = (id: number | string, at: number) => idMap?.find("user", id) ?? -1 - at;
    const given = new Map(ids.map((id, at) => [idMap ? idOf(id, at) : id, id]));
    const rows = findUsers(db, given.keys());
    found = rows.map((row) => ({ ...row, id: given.get(row.id) ?? row.id }));
    const missing = found.filter((user) => !user.is_public && !user.is_private);
    const list = missing.map(({ id }) => `user ${id}`).join(", ");
    if (list) throw new Error(`not found in ${target}: ${list}; nothing was written`);
    return found.map(({ id }) => ({ type: "user", id, public: false }));
  };
  const counted = await applyChanges(listChanges, target, { ...options, allowShrink: true });
  return { ...counted, found };
}

/** Applies changes to the bytes of a snapshot, and returns the bytes of the new snapshot. */
export function changeSnapshot(snapshot: Uint8Array, changes: LineSource): Promise<Uint8Array> {
  const databaseBytes = parseHeader(snapshot, snapshot.length);
  return useDatabase(snapshot.subarray(0, databaseBytes), async (db) => {
    await change(db, changes, {});
    return serializeSnapshot(db);
  });
}

async function change(
  db: Database,
  changes: ChangeSource,
  { builtAtMs = Date.now(), ...options }: ApplyOptions,
  target = "",
  old?: string,
  idMap?: IdMap,
): Promise<Counted> {
  const before = readMeta(db);
  const changer = createRowChanger(db, builtAtMs, idMap);
  const lines = typeof changes === "function" ? changes(db, idMap) : changes;
  const read = await readDataset(lines, changer.handler, options);
  const totals = countTotals(db);
  const guard = { ...options, allowReveal: true };
  const differences = old === undefined ? old : compare(db, old, target, totals, guard);
  const candidates = changer.listFeaturedCandidates(before.featured);
  await finishDatabase(db, totals, changer.forgetNgrams(), { builtAtMs }, candidates);
  changer.forgetSeparators();
  return { ...totals, differences, held: 0, notFound: changer.notFound, ...read };
}
