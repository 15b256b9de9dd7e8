/**
 * Changes a snapshot by the lines of a change file:
 *
 *     await applyChanges([{ type: "role", id: 9, deleted: true }], "community.snapshot");
 */
import { sqlite } from "#sqlite";
import type { ChangeLine } from "../domain/dataset.ts";
import type {
  MissingRecord,
  Problem,
  RawRecord,
  RecordId,
  RecordType,
  ReportProblem,
} from "../domain/records.ts";
import { validateChange } from "../domain/validate-record.ts";
import { NameChanges } from "../search/name-index.ts";
import { parseHeader } from "../snapshot/format/layout.ts";
import { type Summary, summarizeChanges, writeMeta } from "../snapshot/format/meta.ts";
import type { Database } from "../sqlite/driver.ts";
import type { Deletion } from "./complete-rows.ts";
import { type Allowances, guard } from "./guard.ts";
import { openIdMap } from "./id-map.ts";
import { createIds, type Ids } from "./ids.ts";
import type { WriteReport } from "./import.ts";
import { type LineOptions, type LineSource, openLines } from "./line-reader.ts";
import { readDataset } from "./read-dataset.ts";
import type { ErrorOptions } from "./record-errors.ts";
import { dateTakedowns } from "./takedowns.ts";
import { beginWriting, changeCopy, readOld, sealInMemory, type WriteOptions } from "./target.ts";
import { createRows, duplicateId, type Outcome } from "./write-rows.ts";

export interface ApplyOptions
  extends WriteOptions,
    LineOptions,
    Pick<ErrorOptions, "maxErrors">,
    Pick<Allowances, "allowShrink"> {}

/**
 * Applies either all changes to the snapshot file `target` or none. Rejects with a `DatasetError`
 * if a line is invalid, and with a `SnapshotError` if `target` is not a valid snapshot.
 */
export function applyChanges(
  changes: LineSource,
  target: string,
  options: ApplyOptions = {},
): Promise<WriteReport> {
  const named = { ...options, name: target, isGuarded: true };
  return changeCopy(target, options, (db) => change(db, changes, named));
}

/** Applies changes to the bytes of a snapshot, and returns the bytes of the new snapshot. */
export async function changeSnapshot(
  snapshot: Uint8Array,
  changes: LineSource,
): Promise<Uint8Array> {
  const { databaseBytes } = parseHeader(snapshot);
  const db = sqlite.openMemory(snapshot.subarray(0, databaseBytes));
  using _open = beginWriting(db);
  await change(db, changes, { name: "the snapshot", isGuarded: false });
  return sealInMemory(db);
}

interface ChangeOptions extends ApplyOptions {
  /** What messages call the snapshot. */
  name: string;
  /** Whether to refuse what looks like an accident. The old snapshot must be attached. */
  isGuarded: boolean;
}

/** Applies changes to the database of a snapshot. */
async function change(
  db: Database,
  changes: LineSource,
  options: ChangeOptions,
): Promise<WriteReport> {
  const { name, isGuarded, builtAtMs = Date.now() } = options;
  const old = readOld(db, name, { nowMs: builtAtMs });
  await using reader = await openLines(changes, options);
  using map = await openIdMap(options.idMap, options);
  const ids = createIds(reader.ids, old, map);

  const handler = createChangeHandler(db, ids, builtAtMs);
  // In a few lines, all long ids can look rounded by chance.
  const reading = { maxErrors: options.maxErrors, takesRounded: true };
  const read = await readDataset(reader, handler, ids, builtAtMs, reading);
  const summary = handler.summarize(old);
  const changedIds = { users: handler.changed("user"), companies: handler.changed("company") };
  const differences = isGuarded ? guard(db, old, summary, options, changedIds) : undefined;

  writeMeta(db, { ...summary, id_map: await ids.commit() }, builtAtMs);
  const { counts, unlocked } = summary;
  return { ...read, counts, unlocked, differences, notFound: handler.notFound };
}

/** Makes the changes of a change file to the rows of a database. */
function createChangeHandler(db: Database, ids: Ids, builtAtMs: number) {
  const rows = createRows(db, ids);
  const names = new NameChanges(db.$client);
  /** The records that the file changes or deletes, by type and id. */
  const changes = new Map<string, RecordId>();
  /** Those to which users may still refer. */
  const deletions: Deletion[] = [];
  /** The records that the file deletes and that do not exist. */
  const notFound: MissingRecord[] = [];

  /** Lists the ids of the changed records of a type. */
  const changed = (type: RecordType): number[] =>
    [...changes.values()].filter((change) => change.type === type).map(({ id }) => id);

  function take(record: RawRecord, line?: number): Outcome {
    const valid = validateChange(record);
    const problems = Array.isArray(valid) ? valid : makeChange(valid, line);
    return { problems, isWritten: problems.length === 0 };
  }

  /**
   * A record replaces the one with the same id. A record may be deleted before or after its last
   * reference is removed.
   */
  function makeChange(record: ChangeLine, line?: number): Problem[] {
    const { type, id } = record;
    if (changes.has(`${type} ${id}`)) return [duplicateId(record, ids)];

    changes.set(`${type} ${id}`, { type, id });
    if (type === "user" || type === "company") names.note(type, id);

    const existed = rows.remove(record);
    if (!("deleted" in record)) return rows.add(record, line);

    if (!existed) notFound.push({ type, id: ids.inSource(record) });
    else if (type !== "user") deletions.push({ type, id, line });
    return [];
  }

  const complete = (report: ReportProblem) =>
    rows.complete(report, { companies: changed("company"), deletions });

  /** Brings the name indexes and the takedowns in line with the rows, and counts them. */
  function summarize(old: Summary): Summary {
    const users = changed("user");
    names.finish();
    dateTakedowns(db, users, builtAtMs);
    return summarizeChanges(db, old, {
      users,
      hasAchievement: changed("achievement").length > 0,
      unlocked: rows.totals.unlocked,
    });
  }

  return { take, complete, changed, notFound, summarize };
}
