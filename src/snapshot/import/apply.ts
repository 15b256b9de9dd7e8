/**
 * Applies the lines of a change file to a copy of a snapshot, then replaces the snapshot with the
 * copy. References are checked after the last line, so a record may be deleted before or after its
 * last reference is removed.
 */
import { accessSync, constants, copyFileSync } from "node:fs";
import { sql } from "drizzle-orm";
import { type ChangeLine, type RecordKey, validateChange } from "../../domain/dataset.ts";
import { type LockOptions, type Paths, replaceLocked } from "../../files/replace.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { type IdMap, idInSource, openIdMap } from "../../tables/id-map.ts";
import { finishFile, parseHeader } from "../format/file.ts";
import { countTotals, readMeta } from "../format/meta.ts";
import { type Unlock, user } from "../format/schema.ts";
import { namingErrors, verifyFile } from "../format/verify.ts";
import { clearUnused, createForgetting } from "./forget.ts";
import type { LineError } from "./line-errors.ts";
import { compare, refuseOlderMap } from "./overwrite-guard.ts";
import {
  type LineHandler,
  type LineSource,
  type ReadOptions,
  readDataset,
} from "./read-dataset.ts";
import { nameCompanies, type Referenced, RowWriter } from "./rows.ts";
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
    const counted = await useDatabase(path, async (db) => {
      const { totals, finish, ...read } = await change(db, changes, options, idMap);
      const differences = compare(db, old, target, totals, { ...options, allowReveal: true });
      await finish();
      return { ...totals, ...read, differences, held: 0 };
    });
    const sha256 = await finishFile(path, clearUnused);
    // Before the file is replaced, so that no id that was served is lost.
    idMap?.commit();
    return { ...counted, sha256 };
  };
  return replaceLocked(target, apply, options);
}

/** A user as `hideUsers` found it. The tables of public and private users give 1 or 0. */
interface Found {
  id: number | string;
  is_public: number;
  is_private: number;
}

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
    const rows = db.all<Found>(sql`SELECT value AS id,
        value IN (SELECT id FROM user) AS is_public,
        value IN (SELECT id FROM private_user) AS is_private
      FROM json_each(${JSON.stringify([...given.keys()])})`);
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
    const { finish } = await change(db, changes, {});
    await finish();
    return serializeSnapshot(db);
  });
}

/** Applies changes to rows. `finish` then applies them to the name index. */
async function change(
  db: Database,
  changes: ChangeSource,
  { builtAtMs = Date.now(), ...options }: ApplyOptions,
  idMap?: IdMap,
) {
  const { featured } = readMeta(db);
  const writer = new RowWriter(db, idMap);
  const { forget, forgetNgrams, forgetSeparators } = createForgetting(db, builtAtMs);
  /** The line number of each change, keyed by type and id. */
  const lineOf = new Map<string, number>();
  const deletions = new Map<string, Deletion>();
  const notFound: Counted["notFound"] = [];
  const idsOf = (type: RecordKey["type"]) =>
    [...lineOf.keys()]
      .filter((key) => key.startsWith(type))
      .map((key) => Number(key.split(" ")[1]));

  const handler: LineHandler<ChangeLine> = {
    validate: validateChange,
    idMap,

    add(line, number) {
      const { type, id } = line;
      const key = `${type} ${id}`;
      const first = lineOf.get(key);
      if (first !== undefined) {
        const reason = `duplicate ${type} id ${idInSource(line, idMap)} (first on line ${first})`;
        return [{ field: "id", reason, kind: "duplicate id" }];
      }
      lineOf.set(key, number);
      // A definition may make any user's list too long.
      if (type === "achievement") writer.longestList = Number.POSITIVE_INFINITY;
      const existed = forget(line);
      if (!("deleted" in line)) return writer.add(line, number);
      if (!existed) notFound.push({ type, id: idInSource(line, idMap) });
      else if (type !== "user") deletions.set(key, { type, id, line: number });
      return [];
    },

    *finish() {
      yield* writer.finish();
      if (deletions.size > 0) yield* listReferenced(db, deletions, idMap);
      // The members' rows hold the names, too.
      const ids = JSON.stringify(idsOf("company"));
      nameCompanies(db, sql`${user.company_id} IN (SELECT value FROM json_each(${ids}))`);
    },
  };

  const lines = typeof changes === "function" ? changes(db, idMap) : changes;
  const read = await readDataset(lines, handler, options);
  const totals = countTotals(db);
  const finish = async () => {
    const users = idsOf("user");
    // Anyone can be featured if an achievement or a featured user has changed.
    const isAnyone = idsOf("achievement").length > 0 || featured.some((id) => users.includes(id));
    const candidates = isAnyone ? undefined : [...featured, ...users];
    await finishDatabase(db, totals, forgetNgrams(), { builtAtMs }, candidates);
    forgetSeparators();
  };
  return { ...read, totals, notFound, finish };
}

interface Deletion {
  type: Referenced;
  id: number;
  line: number;
  /** The first user that still refers to the record. */
  user?: number;
}

/** Yields an error for each deleted record that is still referenced by a user. */
function* listReferenced(
  db: Database,
  deletions: Map<string, Deletion>,
  idMap?: IdMap,
): Generator<LineError> {
  const rows = prepareText(db, db.select().from(user).orderBy(user.id));
  for (const { id, company_id, ...row } of rows.iterate()) {
    const roles: number[] = JSON.parse(row.roles);
    const unlocks: Unlock[] = JSON.parse(row.achievements);
    for (const key of [
      `company ${company_id}`,
      ...roles.map((role) => `role ${role}`),
      ...unlocks.map(([unlocked]) => `achievement ${unlocked}`),
    ]) {
      const deletion = deletions.get(key);
      if (deletion) deletion.user ??= id;
    }
  }
  for (const { line, user, ...record } of deletions.values()) {
    const kind = "is still referenced";
    if (user === undefined) continue;
    const by = idInSource({ type: "user", id: user }, idMap);
    const reason = `${record.type} ${idInSource(record, idMap)} ${kind} by user ${by}`;
    yield { line, field: "id", reason, kind };
  }
}
