/**
 * Changes a snapshot by the lines of a change file:
 *
 *     await applyChanges([{ type: "role", id: 9, deleted: true }], "community.snapshot");
 */
import { sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import type { ChangeLine, FoundError, Position, RecordType } from "../domain/dataset.ts";
import { validateChange } from "../domain/validate-record.ts";
import { NameChanges } from "../search/name-index.ts";
import { parseHeader } from "../snapshot/format/layout.ts";
import { readMeta, type Summary, summarizeChanges } from "../snapshot/format/meta.ts";
import { guard, type WriteReport } from "./guard.ts";
import { finishRows, nameCompanies } from "./handle-records.ts";
import { type Ids, openIds } from "./ids.ts";
import { type LineSource, openLines } from "./line-reader.ts";
import type { OldSnapshot } from "./old-snapshot.ts";
import type { ApplyOptions } from "./options.ts";
import { type ReadReport, type ReportError, readDataset } from "./read-dataset.ts";
import { createRowWriter, type Deletion, duplicateId, listTooMany } from "./row-writer.ts";
import {
  type Contents,
  createSnapshotWriter,
  replaceByCopy,
  type SnapshotWriter,
} from "./snapshot-writer.ts";
import { dateTakedowns, hasTakedowns } from "./takedowns.ts";

/**
 * Applies either all changes to the snapshot file `target` or none. Rejects with a `DatasetError`
 * if a line is invalid, and with a `SnapshotError` if `target` is not a valid snapshot.
 */
export function applyChanges(
  changes: LineSource,
  target: string,
  options: ApplyOptions = {},
): Promise<WriteReport> {
  return replaceByCopy(target, options, (writer, next) =>
    applyTo(writer, target, changes, options, async ({ read, old, handler, contents, ids }) => {
      const changed = { users: handler.changed("user"), companies: handler.changed("company") };
      // The lines name those whom they rename or make public.
      const allowed = { ...options, allowReveal: true, allowRenames: true };
      const differences = guard(writer.db, old, contents, allowed, changed);

      const sha256 = await writer.toFile(next, contents, ids);
      const { counts, unlocked } = contents;
      const { notFound } = handler;
      return { ...read, counts, unlocked, differences, held: 0, notFound, sha256 };
    }),
  );
}

/** Applies changes to the bytes of a snapshot, and returns the bytes of the new snapshot. */
export async function changeSnapshot(
  snapshot: Uint8Array,
  changes: LineSource,
): Promise<Uint8Array> {
  const { databaseBytes } = parseHeader(snapshot);
  const copy = sqlite.openMemory(snapshot.subarray(0, databaseBytes));
  using writer = createSnapshotWriter(copy, { builtAtMs: Date.now(), isNew: false });
  return await applyTo(writer, "the snapshot", changes, {}, async ({ contents }) =>
    writer.toBytes(contents),
  );
}

/** A snapshot whose rows and indexes have been changed. */
interface Applied {
  read: ReadReport;
  old: OldSnapshot;
  handler: ReturnType<typeof createChangeHandler>;
  contents: Contents;
  ids: Ids;
}

/** Applies changes to the snapshot named `name`, which has been opened for writing, and saves it. */
async function applyTo<Saved>(
  writer: SnapshotWriter,
  name: string,
  changes: LineSource,
  options: ApplyOptions,
  save: (applied: Applied) => Promise<Saved>,
): Promise<Saved> {
  await using reader = await openLines(changes, options);
  const { db, builtAtMs: nowMs } = writer;
  const old = { ...readMeta(db), name, hasTakedowns: hasTakedowns(db, { nowMs }) };
  using ids = await openIds(reader.ids, old, options);

  const handler = createChangeHandler(writer, ids);
  const read = await readDataset(reader, handler, ids, nowMs, options);
  const contents = { ...handler.summarize(old), id_map: ids.addMark() };
  return await save({ read, old, handler, contents, ids });
}

/** Makes the changes of a change file to the rows of a database. */
function createChangeHandler({ db, builtAtMs }: SnapshotWriter, ids: Ids) {
  const rows = createRowWriter(db, ids);
  const names = new NameChanges(db.$client);
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

  return { validate: validateChange, add, finish, changed, notFound, summarize };
}
