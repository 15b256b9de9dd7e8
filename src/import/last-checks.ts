/**
 * Finds the users who refer to a record that does not exist, or whose achievements would take too
 * much of a response. Records may come in any order, so users are judged only after the last record.
 */

import type { RecordKey } from "../domain/dataset.ts";
import { MAX_ACHIEVEMENTS_BYTES } from "../domain/model.ts";
import type { Position } from "../domain/record-reader.ts";
import { mustExist } from "../domain/validation-errors.ts";
import { encodeUnlocks } from "../snapshot/format/records.ts";
import { achievement, type Unlock, user } from "../snapshot/format/schema.ts";
import { type Database, prepareText, type Sqlite } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import type { ReportError } from "./read-dataset.ts";

/** A record that a change deletes, and to which users may still refer. */
export interface Deletion extends RecordKey {
  at: Position;
}

/** A reference to a record that does not exist. */
interface Reference extends RecordKey {
  field: string;
  user: number;
  /** Where the user stands, if the user has just been read. */
  at: Position | null;
  /** Where the record is deleted, if a change deletes it. */
  deletedAt: Position | null;
}

/** How many achievements a user has at most; unknown if the definitions of earlier users change. */
export type MostUnlocks = number | "unknown";

/**
 * Creates the table of the users whose references must be judged. It is on disk, unlike a TEMP table
 * (see temp_store in snapshot-writer.ts), because these may be all users.
 */
export function createPending(db: Sqlite) {
  db.exec("CREATE TABLE pending (id INTEGER PRIMARY KEY, at INTEGER)");
  return db.prepare("INSERT INTO pending VALUES (?, ?)");
}

/**
 * Reports references to records that do not exist. Leaves out users who have become private since.
 * Reads all users only if something was deleted.
 */
export function reportMissing(
  { $client }: Database,
  deletions: readonly Deletion[],
  ids: Ids,
  report: ReportError,
): void {
  const users = deletions.length > 0 ? "user" : "pending JOIN user USING (id)";
  // MATERIALIZED has SQLite look each reference up in an index of the deletions.
  const missing = $client.prepare<Reference>(
    `WITH deletion AS MATERIALIZED (SELECT
        value ->> 'type' AS type, value ->> 'id' AS id, value ->> 'at' AS deletedAt
        FROM json_each(?))
      SELECT pending.at, deletedAt, field, type, reference.id, user
      FROM (${referencesOf(users)}) AS reference
      LEFT JOIN pending ON pending.id = user
      LEFT JOIN deletion USING (type, id)
      WHERE ${refersToNothing("reference")} ORDER BY deletedAt, pending.at, rank, user`,
  );
  for (const { at, deletedAt, field, user, ...missed } of missing.iterate(
    JSON.stringify(deletions),
  )) {
    const found = { type: "user", id: user, missing: missed } as const;
    const id = ids.inSource(missed);
    const kind = "is still referenced";
    const reason = `${missed.type} ${id} ${kind}`;
    if (deletedAt !== null) report({ at: deletedAt, field: "id", reason, kind, ...found });
    if (at !== null) report({ at, ...mustExist(field, missed.type, id), ...found });
  }
  $client.exec("DROP TABLE pending");
}

/** Selects all references of `users`, which are rows of `user` or of a table called so. */
export function referencesOf(users: string): string {
  return `SELECT 1 AS rank, 'company.id' AS field, 'company' AS type, company_id AS id,
      user.id AS user FROM ${users} WHERE company_id IS NOT NULL
    UNION ALL SELECT 2, 'roles', 'role', value, user.id FROM ${users}, json_each(roles)
    UNION ALL SELECT 3, 'achievements', 'achievement', value ->> 0, user.id
      FROM ${users}, json_each(achievements)`;
}

/** The condition for a selected reference to be to nothing. */
export function refersToNothing(reference: string): string {
  return `NOT CASE ${reference}.type
    WHEN 'role' THEN ${reference}.id IN (SELECT id FROM role)
    WHEN 'company' THEN ${reference}.id IN (SELECT id FROM company)
    ELSE ${reference}.id IN (SELECT id FROM achievement) END`;
}

/** More bytes than an entry adds to the JSON of its definition. */
const ENTRY_BYTES = 100;

export type UserUnlocks = Pick<typeof user.$inferSelect, "id" | "name" | "achievements">;

export function reportLongUsers(db: Database, most: MostUnlocks, report: ReportError): void {
  for (const { id, name, bytes } of listLongUsers(db, most)) {
    const kind = `must take at most ${MAX_ACHIEVEMENTS_BYTES / 1024} KB in a response`;
    const reason = `${kind}, got ${Math.ceil(bytes / 1024)} KB for ${JSON.stringify(name)}`;
    report({ field: "achievements", reason, kind, type: "user", id });
  }
}

/**
 * Lists those of `users`, or of all, with the newest achievements that fit. Reads nobody if `most`
 * achievements would fit even if all definitions were as long as the longest.
 */
export function* listLongUsers(
  db: Database,
  most: MostUnlocks,
  users: Iterable<UserUnlocks> = listUsers(db),
) {
  const rows = db.select().from(achievement).all();
  const definitions = new Map(rows.map((row) => [row.id, JSON.stringify(row)]));
  const sizes = definitions.values().map((json) => Buffer.byteLength(json));
  const longest = sizes.reduce((max, size) => Math.max(max, size), 0);
  if (most !== "unknown" && most * (longest + ENTRY_BYTES) <= MAX_ACHIEVEMENTS_BYTES) return;

  for (const { id, name, achievements } of users) {
    const unlocks: Unlock[] = JSON.parse(achievements);
    let bytes = 1;
    const fitting = unlocks.filter((unlock) => {
      // In a longer list, a comma takes the place of one of the two brackets.
      const entry = encodeUnlocks([unlock], (id) => definitions.get(id) ?? "");
      bytes += Buffer.byteLength(entry) - 1;
      return bytes <= MAX_ACHIEVEMENTS_BYTES;
    });
    if (fitting.length < unlocks.length) yield { id, name, bytes, fitting };
  }
}

function* listUsers(db: Database): Generator<UserUnlocks> {
  const { id, name, achievements } = user;
  yield* prepareText(db, db.select({ id, name, achievements }).from(user)).iterate();
}
