/**
 * Applies the lines of a change file to a copy of a snapshot, then replaces the snapshot with the
 * copy. References are checked after the last line, so a record may be deleted before or after its
 * last reference is removed.
 */
import { accessSync, constants, copyFileSync } from "node:fs";
import { sql } from "drizzle-orm";
import { type ChangeLine, validateChange } from "../../domain/dataset.ts";
import { type Paths, type ReplaceOptions, replaceLocked } from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { type IdMap, idInSource, openIdMap } from "../../tables/id-map.ts";
import { finishFile, parseHeader } from "../format/header-trailer.ts";
import { readMeta } from "../format/meta.ts";
import { namingErrors, verifyFile } from "../format/open.ts";
import { createRowWriter, nameCompanies, type Reference } from "./add-records.ts";
import { clearUnused, createForgetting } from "./forget.ts";
import { compare, refuseOlderMap } from "./overwrite-guard.ts";
import {
  type LineHandler,
  type LineSource,
  type ReadOptions,
  readDataset,
} from "./read-dataset.ts";
import {
  type Counted,
  finishDatabase,
  serializeSnapshot,
  summarize,
  useDatabase,
  type WriteOptions,
} from "./write.ts";

export type ApplyOptions = ReadOptions & ReplaceOptions & Pick<WriteOptions, "builtAtMs">;

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
    const counted = await useDatabase(path, async (db) => {
      const changed = await change(db, changes, options, idMap);
      const differences = compare(db, old, target, changed, { ...options, allowReveal: true });
      return { ...changed, differences, held: 0 };
    });
    const sha256 = await finishFile(path, clearUnused);
    // Before the file is replaced, so that no id that was served is lost.
    idMap?.commit();
    return { ...counted, sha256 };
  };
  return replaceLocked(target, apply, options);
}

/** A user as `hideUsers` found it. `is_public` is 1 or 0. */
type Found = { id: number | string; is_public: number | null };

/**
 * Makes users private in the snapshot file `target`, and returns them as they were. Rejects if one
 * of them does not exist. An import keeps to this for an hour, even for those already private.
 */
export async function hideUsers(
  ids: readonly (number | string)[],
  target: string,
  options: ApplyOptions = {},
): Promise<Counted & { found: Found[] }> {
  let found: Found[] = [];
  const listChanges = (db: Database, idMap?: IdMap) => {
    // Each id that is not in the map gets a number that no user has.
    const idOf = (id: number | string, at: number) => idMap?.find("user", id) ?? -1 - at;
    const given = new Map(ids.map((id, at) => [idMap ? idOf(id, at) : id, id]));
    const rows = db.all<Found>(sql`SELECT value AS id, CASE
        WHEN value IN (SELECT id FROM user) THEN 1
        WHEN value IN (SELECT id FROM private_user) THEN 0 END AS is_public
      FROM json_each(${JSON.stringify([...given.keys()])})`);
    found = rows.map((row) => ({ ...row, id: given.get(row.id) ?? row.id }));
    const missing = found.filter((user) => user.is_public === null);
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

/** Applies changes to the rows and the name index of a database. */
async function change(
  db: Database,
  changes: ChangeSource,
  { builtAtMs = Date.now(), ...options }: ApplyOptions,
  idMap?: IdMap,
) {
  const { featured } = readMeta(db);
  const writer = createRowWriter(db, idMap);
  const { forget, forgetNgrams, forgetSeparators } = createForgetting(db, builtAtMs);
  const byId = () => new Map<number, number>();
  /** The line number of each change. */
  const lineOf = { role: byId(), achievement: byId(), company: byId(), user: byId() };
  const deletions: Reference[] = [];
  const notFound: Counted["notFound"] = [];

  const handler: LineHandler<ChangeLine> = {
    validate: validateChange,
    idMap,

    add(line, number) {
      const { type, id } = line;
      const first = lineOf[type].get(id);
      if (first !== undefined) {
        const reason = `duplicate ${type} id ${idInSource(line, idMap)} (first on line ${first})`;
        return [{ field: "id", reason, kind: "duplicate id" }];
      }
      lineOf[type].set(id, number);
      // A definition may make any user's list too long.
      if (type === "achievement") writer.longestList = Number.POSITIVE_INFINITY;
      const existed = forget(line);
      if (!("deleted" in line)) return writer.add(line, number);
      if (!existed) notFound.push({ type, id: idInSource(line, idMap) });
      else if (type !== "user") deletions.push({ type, id, line: number });
      return [];
    },

    *finish() {
      if (deletions.length > 0) writer.addDeletions(deletions);
      yield* writer.finish();
      // The members' rows hold the names, too.
      const ids = JSON.stringify([...lineOf.company.keys()]);
      nameCompanies(db, sql`company_id IN (SELECT value FROM json_each(${ids}))`);
    },
  };

  const lines = typeof changes === "function" ? changes(db, idMap) : changes;
  const read = await readDataset(lines, handler, options);
  // Anyone can be featured if an achievement or a featured user has changed.
  const isAnyone = lineOf.achievement.size > 0 || featured.some((id) => lineOf.user.has(id));
  const summary = summarize(db, isAnyone ? undefined : [...featured, ...lineOf.user.keys()]);
  await finishDatabase(db, summary, forgetNgrams(), { builtAtMs });
  forgetSeparators();
  const { counts, unlocked } = summary;
  return { counts, unlocked, ...read, notFound };
}
