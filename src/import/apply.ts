/**
 * Changes a copy of a snapshot, by the lines of a change file or by hiding users, and then replaces the
 * snapshot with the copy:
 *
 *     await applyChanges([{ type: "role", id: 9, deleted: true }], "community.snapshot");
 *     await hideUsers([42], "community.snapshot");
 */
import { access, chmod, constants, stat } from "node:fs/promises";
import { eq, sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import {
  type ChangeLine,
  type FoundError,
  isPublicUser,
  OWN_IDS,
  type Position,
  type RecordType,
} from "../domain/dataset.ts";
import { validateChange } from "../domain/validate-record.ts";
import { copyIfSpace } from "../files/bytes.ts";
import { isMissing, type Paths, type ReplaceOptions, replaceLocked } from "../files/replace.ts";
import { NameChanges } from "../search/name-index.ts";
import { parseWholeHeader, toSnapshotError } from "../snapshot/format/layout.ts";
import { type Counts, type Summary, summarizeChanges } from "../snapshot/format/meta.ts";
import { verifyFile } from "../snapshot/format/open.ts";
import { privateUser, user } from "../snapshot/format/schema.ts";
import type { Database } from "../sqlite/driver.ts";
import { guard, type WriteReport } from "./guard.ts";
import { finishRows, nameCompanies } from "./handle-records.ts";
import { type Ids, openIds } from "./ids.ts";
import { type LineSource, openLines } from "./line-reader.ts";
import { createTakedowns, describeSnapshot } from "./old-snapshot.ts";
import type { ApplyOptions, HideOptions } from "./options.ts";
import { type ReportError, readDataset } from "./read-dataset.ts";
import { createRowWriter, type Deletion, duplicateId, listTooMany } from "./row-writer.ts";
import { createSnapshotWriter, type SnapshotWriter } from "./snapshot-writer.ts";

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
    await using reader = await openLines(changes, options);
    using writer = await openWork(target, paths, options);
    const { db, builtAtMs } = writer;
    const old = describeSnapshot(db, target, builtAtMs);
    using ids = await openIds(reader.ids, old, options);

    const handler = createChangeHandler(db, ids, builtAtMs);
    const read = await readDataset(reader, handler, ids, builtAtMs, options);
    const summary = handler.summarize(old);
    const changed = { users: handler.changed("user"), companies: handler.changed("company") };
    // The lines name those whom they rename or make public.
    const allowed = { ...options, allowReveal: true, allowRenames: true };
    const differences = guard(db, old, summary, allowed, changed);

    const sha256 = await writer.toFile(paths, ids, summary);
    const { counts, unlocked } = summary;
    const { notFound } = handler;
    return { ...read, counts, unlocked, differences, held: 0, notFound, sha256 };
  });
}

/** Applies changes to the bytes of a snapshot, and returns the bytes of the new snapshot. */
export async function changeSnapshot(
  snapshot: Uint8Array,
  changes: LineSource,
): Promise<Uint8Array> {
  const { databaseBytes } = parseWholeHeader(snapshot, snapshot.length);
  const copy = sqlite.openMemory(snapshot.subarray(0, databaseBytes));
  using writer = createSnapshotWriter(copy, { builtAtMs: Date.now(), isNew: false });
  const { db, builtAtMs } = writer;
  const old = describeSnapshot(db, "the snapshot", builtAtMs);
  await using reader = await openLines(changes, {});
  using ids = await openIds(reader.ids, old, {});

  const handler = createChangeHandler(db, ids, builtAtMs);
  await readDataset(reader, handler, ids, builtAtMs, {});
  return await writer.toBytes(ids, handler.summarize(old));
}

/** A user whom `hideUsers` made private or found private. */
interface HiddenUser {
  /** The id in the snapshot. */
  id: number;
  /** The id as it was given, which may be a key of the id map. */
  given: number | string;
  wasPublic: boolean;
}

/** The report on a snapshot in which users have been hidden. */
interface HideReport {
  sha256: string;
  counts: Counts;
  found: HiddenUser[];
}

/**
 * Makes users private in the snapshot file `target`, and returns them as they were. Rejects if one
 * of them does not exist. An import keeps to this for an hour, even for those already private.
 */
export function hideUsers(
  given: readonly (number | string)[],
  target: string,
  options: HideOptions = {},
): Promise<HideReport> {
  return replaceExisting(target, options, async (paths) => {
    using writer = await openWork(target, paths, options);
    const { db, builtAtMs } = writer;
    const old = describeSnapshot(db, target, builtAtMs);
    using ids = await openIds(OWN_IDS, old, { ...options, readsOnly: true });
    const found = findUsers(db, given, ids, target);

    const users = found.map(({ id }) => id);
    const takedowns = createTakedowns(db, builtAtMs);
    for (const id of users) takedowns.begin(id);

    const names = new NameChanges(db.$client);
    let unlocked = 0;
    for (const id of users) {
      names.note("user", id);
      const [hidden] = db.delete(user).where(eq(user.id, id)).returning().all();
      if (hidden) unlocked -= JSON.parse(hidden.achievements).length;
      db.insert(privateUser).values({ id }).onConflictDoNothing().run();
    }
    names.finish();

    const summary = summarizeChanges(db, old, { users, hasAchievement: false, unlocked });
    const sha256 = await writer.toFile(paths, ids, summary);
    return { sha256, counts: summary.counts, found };
  });
}

/** Finds each user once. Throws unless all of them are in the snapshot. */
function findUsers(
  db: Database,
  names: readonly (number | string)[],
  ids: Ids,
  target: string,
): HiddenUser[] {
  const found = new Map<number, HiddenUser>();
  const missing: string[] = [];
  for (const given of names) {
    const id = ids.findUser(given) ?? 0;
    const wasPublic = db.select({ id: user.id }).from(user).where(eq(user.id, id)).get();
    const exists = wasPublic ?? db.select().from(privateUser).where(eq(privateUser.id, id)).get();
    if (!exists) missing.push(describeMissing(given, ids));
    else if (!found.has(id)) found.set(id, { id, given, wasPublic: wasPublic !== undefined });
  }

  if (missing.length === 0) return [...found.values()];
  throw new Error(`not found in ${target}: ${missing.join(", ")}; nothing was written`);
}

/** A page has the number in its address, but the id map finds a user by the key. */
function describeMissing(given: number | string, ids: Ids): string {
  const key = ids.findKey(given);
  return key === undefined ? `user ${given}` : `user ${given} (number ${given} has the key ${key})`;
}

async function replaceExisting<T>(
  target: string,
  options: ReplaceOptions,
  write: (paths: Paths) => Promise<T>,
): Promise<T> {
  // The lock file beside a name that was mistyped would stay. A first import may have one, too.
  try {
    if (isMissing(target)) await access(target);
  } catch (error) {
    throw toSnapshotError(target, error);
  }
  return replaceLocked(target, write, options);
}

const failing = (target: string) => (error: unknown) => {
  throw toSnapshotError(target, error);
};

/** Copies the snapshot file `target`. Rejects if the copy is not intact. */
async function openWork(
  target: string,
  { work, old }: Paths,
  { builtAtMs = Date.now() }: HideOptions,
): Promise<SnapshotWriter> {
  await access(old, constants.R_OK).catch(failing(target));
  const { size } = await stat(old);
  await copyIfSpace(old, work, size);
  // The copy has the mode of the original, which may forbid writing.
  await chmod(work, 0o600);
  // Verifies the copy rather than the original, which may have changed since it was copied.
  await verifyFile(work).catch(failing(target));
  return createSnapshotWriter(sqlite.openWritable(work), { builtAtMs, isNew: false, old });
}

/** Makes the changes of a change file to the rows of a database. `nowMs` is the time of takedowns. */
function createChangeHandler(db: Database, ids: Ids, nowMs: number) {
  const rows = createRowWriter(db, ids);
  const names = new NameChanges(db.$client);
  const takedowns = createTakedowns(db, nowMs);
  /** The changed records and the positions of their changes, by type and id. */
  const changes = new Map<string, Deletion>();
  /** The records that the file deletes and that do not exist. */
  const notFound: WriteReport["notFound"] = [];

  /** Lists the ids of the changed records of a type. */
  const changed = (type: RecordType): number[] =>
    [...changes.values()].filter((change) => change.type === type).map(({ id }) => id);

  /**
   * A record replaces the one with the same id. A record may be deleted before or after its last
   * reference is removed.
   */
  function add(record: ChangeLine, at: Position): FoundError[] {
    const { type, id } = record;
    const first = changes.get(`${type} ${id}`);
    if (first) return [duplicateId(record, ids, first.at)];

    const change = { type, id, at };
    changes.set(`${type} ${id}`, change);
    if (type === "user" || type === "company") names.note(type, id);
    // Users who were written earlier may have become too long.
    if (type === "achievement") rows.totals.mostUnlocks = "unknown";
    if (type === "user" && isPublicUser(record)) takedowns.end(id);
    else if (type === "user") takedowns.begin(id);

    const existed = rows.remove(record);
    if (!("deleted" in record)) return rows.add(record, at);

    if (!existed) notFound.push({ type, id: ids.inSource(record) });
    else if (type !== "user") rows.deletions.push(change);
    return [];
  }

  function finish(report: ReportError): void {
    finishRows(db, rows, ids, report);
    for (const error of listTooMany(db)) report(error);
    const companies = JSON.stringify(changed("company"));
    nameCompanies(db, sql`company_id IN (SELECT value FROM json_each(${companies}))`);
  }

  /** Brings the name indexes in line with the rows, and counts them. */
  function summarize(old: Summary): Summary {
    names.finish();
    return summarizeChanges(db, old, {
      users: changed("user"),
      hasAchievement: changed("achievement").length > 0,
      unlocked: rows.totals.unlocked,
    });
  }

  return { validate: validateChange, add, finish, changed, notFound, summarize };
}
