/**
 * Applies the lines of a change file to a copy of a snapshot, then replaces the snapshot with the
 * copy. References are checked after the last line, so a record may be deleted before or after its
 * last reference is removed.
 */
import { accessSync, constants, copyFileSync, statSync } from "node:fs";
import { eq, sql } from "drizzle-orm";
import { OWN_IDS, RecordList, type RecordSource } from "../../domain/record-source.ts";
import { isUnknown, type Paths, type ReplaceOptions, replaceLocked } from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { finishFile, parseHeader } from "../format/header-trailer.ts";
import { readMeta } from "../format/meta.ts";
import { namingErrors } from "../format/open.ts";
import { privateUser, user } from "../format/schema.ts";
import { ChangeWriter } from "./change-writer.ts";
import { compare, type GuardOptions } from "./compare.ts";
import { Removals } from "./forget.ts";
import { type IdOptions, Ids } from "./ids.ts";
import { type LineOptions, LineReader, type LineSource } from "./line-source.ts";
import { type ReadOptions, readDataset } from "./read-dataset.ts";
import { describeTarget, verifyTarget } from "./target.ts";
import {
  type Counted,
  copyRows,
  finishDatabase,
  hasManyFreePages,
  serializeSnapshot,
  summarize,
  useDatabase,
  type WriteOptions,
} from "./write.ts";

export type ApplyOptions = LineOptions &
  ReadOptions &
  GuardOptions &
  ReplaceOptions &
  Pick<IdOptions, "idMap"> &
  Pick<WriteOptions, "builtAtMs">;

/** Changes, or a function that derives them from the snapshot. */
type Changes = RecordSource | ((db: Database, ids: Ids) => RecordSource);

/**
 * Applies either all changes to the snapshot file `target` or none. Rejects with a `DatasetError`
 * if a line is invalid, and with a `SnapshotError` if `target` is not a valid snapshot.
 */
export function applyChanges(
  changes: LineSource,
  target: string,
  options: ApplyOptions = {},
): Promise<Counted> {
  const write = async (paths: Paths) => {
    await using source = await LineReader.open(changes, options);
    return await writeChanged(source, target, paths, options);
  };
  return replaceExisting(target, write, options);
}

async function replaceExisting(
  target: string,
  write: (paths: Paths) => Promise<Counted>,
  options: ApplyOptions,
): Promise<Counted> {
  // The lock file beside a name that was mistyped would stay. A first import may have one, too.
  if (isUnknown(target)) await namingErrors(target, async () => accessSync(target));
  return replaceLocked(target, write, options);
}

async function writeChanged(
  changes: Changes,
  name: string,
  { path, work, old }: Paths,
  options: ApplyOptions,
): Promise<Counted> {
  await namingErrors(name, async () => accessSync(old, constants.R_OK));
  copyFileSync(old, path, constants.COPYFILE_FICLONE);
  // Verifies the copy rather than the original, which may have changed since it was copied.
  const target = await verifyTarget(path, { path: old, name });
  const owner = typeof changes === "function" ? OWN_IDS : changes.ids;

  const { idMap, waitMs, onWait } = options;
  using ids = await Ids.open(owner, target, { idMap, waitMs, onWait });
  const counted = await useDatabase(path, async (db) => {
    const source = typeof changes === "function" ? changes(db, ids) : changes;
    const { changed, ...outcome } = await change(db, source, ids, options);
    const differences = compare(db, target, outcome, { ...options, allowReveal: true }, changed);
    if (hasManyFreePages(db)) copyRows(db, work);
    return { ...outcome, differences, held: 0 };
  });

  if (statSync(work).size > 0) copyFileSync(work, path, constants.COPYFILE_FICLONE);
  const sha256 = await finishFile(path);
  ids.commit();
  return { ...counted, sha256 };
}

/** A user whom `hideUsers` made private or found private, by the id that it was given. */
interface Found {
  id: number | string;
  wasPublic: boolean;
}

/**
 * Makes users private in the snapshot file `target`, and returns them as they were. Rejects if one
 * of them does not exist. An import keeps to this for an hour, even for those already private.
 */
export async function hideUsers(
  given: readonly (number | string)[],
  target: string,
  options: ApplyOptions = {},
): Promise<Counted & { found: Found[] }> {
  let found: Found[] = [];
  const listChanges = (db: Database, ids: Ids): RecordSource => {
    found = findUsers(db, ids, given, target);
    return new RecordList(found.map(({ id }) => ({ type: "user", id, public: false })));
  };
  const guards = { ...options, allowShrink: true };
  const write = (paths: Paths) => writeChanged(listChanges, target, paths, guards);
  const counted = await replaceExisting(target, write, options);
  return { ...counted, found };
}

/** Finds each user once. Throws unless all of them are in the snapshot. */
function findUsers(
  db: Database,
  ids: Ids,
  given: readonly (number | string)[],
  target: string,
): Found[] {
  const id = sql.placeholder("id");
  const findPublic = db.select({ id: user.id }).from(user).where(eq(user.id, id)).prepare();
  const findPrivate = db.select().from(privateUser).where(eq(privateUser.id, id)).prepare();
  const found = new Map<number, Found>();
  const missing: string[] = [];
  for (const name of given) {
    const id = ids.findUser(name);
    const wasPublic = id !== undefined && findPublic.get({ id }) !== undefined;
    if (id !== undefined && (wasPublic || findPrivate.get({ id }) !== undefined)) {
      found.set(id, found.get(id) ?? { id: name, wasPublic });
    } else {
      missing.push(`user ${name}`);
    }
  }
  if (missing.length === 0) return [...found.values()];
  throw new Error(`not found in ${target}: ${missing.join(", ")}; nothing was written`);
}

/** Applies changes to the bytes of a snapshot, and returns the bytes of the new snapshot. */
export function changeSnapshot(snapshot: Uint8Array, changes: LineSource): Promise<Uint8Array> {
  const databaseBytes = parseHeader(snapshot, snapshot.length);
  return useDatabase(snapshot.subarray(0, databaseBytes), async (db) => {
    const target = describeTarget(db, { path: "", name: "the snapshot" });
    await using source = await LineReader.open(changes, {});
    using ids = await Ids.open(source.ids, target, {});
    await change(db, source, ids, {});
    return serializeSnapshot(db);
  });
}

/** Applies changes to the rows and the name index of a database. */
async function change(
  db: Database,
  source: RecordSource,
  ids: Ids,
  { builtAtMs = Date.now(), ...options }: ApplyOptions,
) {
  const { featured } = readMeta(db);
  const removals = new Removals(db, builtAtMs);
  const writer = new ChangeWriter(db, ids, removals);
  const read = await readDataset(source, writer, ids, options);
  const { placeOf, notFound } = writer;
  // Anyone can be featured if an achievement or a featured user has changed.
  const isAnyone = placeOf.achievement.size > 0 || featured.some((id) => placeOf.user.has(id));
  const summarized = summarize(db, isAnyone ? undefined : [...featured, ...placeOf.user.keys()]);
  const summary = { ...summarized, id_map: ids.mark() };

  removals.finish();
  finishDatabase(db, summary, builtAtMs);
  const { counts, unlocked } = summary;
  const changed = { users: [...placeOf.user.keys()], companies: [...placeOf.company.keys()] };
  return { counts, unlocked, ...read, notFound, changed };
}
