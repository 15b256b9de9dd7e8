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
import type { Report } from "./read-dataset.ts";

/** A record that a change deletes, and to which users may still refer. */
export interface Deletion extends RecordKey {
  at: Position;
}

interface Reference extends Deletion {
  field: string;
  user: number;
}

/**
 * Creates the table of the users whose references must be judged. It is on disk, unlike a TEMP table
 * (see temp_store in snapshot-writer.ts), because these may be all users.
 */
export function createPending(db: Sqlite) {
  db.exec("CREATE TABLE pending (id INTEGER PRIMARY KEY, at INTEGER)");
  return db.prepare("INSERT INTO pending VALUES (?, ?)");
}

/** Leaves out users who have become private since, of whom nothing is checked. */
export function reportMissing({ $client }: Database, ids: Ids, report: Report): void {
  const missing = $client.prepare<Reference>(
    `SELECT at, field, type, reference.id, user
      FROM (${referencesOf("pending JOIN user USING (id)")}) AS reference
      JOIN pending ON pending.id = user WHERE ${refersToNothing("reference")} ORDER BY at, rank`,
  );
  for (const { at, field, user, ...missed } of missing.iterate()) {
    const error = mustExist(field, missed.type, ids.inSource(missed));
    report({ at, ...error, type: "user", id: user, missing: missed });
  }
  $client.exec("DROP TABLE pending");
}

/** Reads all users, unless nothing was deleted. */
export function reportDeleted(
  { $client }: Database,
  deletions: readonly Deletion[],
  ids: Ids,
  report: Report,
): void {
  if (deletions.length === 0) return;

  // MATERIALIZED and CROSS have SQLite look each reference up in an index of the deletions.
  const referenced = $client.prepare<Reference>(
    `WITH deletion AS MATERIALIZED (SELECT
        value ->> 'type' AS type, value ->> 'id' AS id, value ->> 'at' AS at
        FROM json_each(?))
      SELECT at, type, id, user FROM (${referencesOf("user")})
      CROSS JOIN deletion USING (type, id)
      ORDER BY at, user`,
  );
  for (const { at, user, type, id } of referenced.iterate(JSON.stringify(deletions))) {
    const kind = "is still referenced";
    const reason = `${type} ${ids.inSource({ type, id })} ${kind}`;
    report({ at, field: "id", reason, kind, type: "user", id: user, missing: { type, id } });
  }
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

export function reportLongUsers(db: Database, most: number, report: Report): void {
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
  most: number,
  users: Iterable<UserUnlocks> = listUsers(db),
) {
  const rows = db.select().from(achievement).all();
  const definitions = new Map(rows.map((row) => [row.id, JSON.stringify(row)]));
  const sizes = definitions.values().map((json) => Buffer.byteLength(json));
  const longest = sizes.reduce((max, size) => Math.max(max, size), 0);
  if (most * (longest + ENTRY_BYTES) <= MAX_ACHIEVEMENTS_BYTES) return;

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
