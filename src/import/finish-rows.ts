/**
 * Completes the rows after the last record, because records may come in any order, and finds users who
 * refer to a record that does not exist, or whose achievements would take too much of a response.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Position, RecordKey } from "../domain/dataset.ts";
import { MAX_ACHIEVEMENTS_BYTES } from "../domain/model.ts";
import { mustExist } from "../domain/validation-errors.ts";
import { encodeUnlocks } from "../snapshot/format/records.ts";
import { achievement, type Unlock, user } from "../snapshot/format/schema.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import type { ReportError } from "./read-dataset.ts";

/** A record that a change deletes, and to which users may still refer. */
export interface Deletion extends RecordKey {
  at: Position;
}

/**
 * Drops the table `pending`, in which write-rows.ts notes the users who refer to something that has not
 * been read yet, and where they stand. No user has more than `mostUnlocks` achievements.
 */
export function finishRows(
  db: Database,
  mostUnlocks: number,
  deletions: readonly Deletion[],
  ids: Ids,
  report: ReportError,
): void {
  nameCompanies(db, sql`id IN (SELECT id FROM pending)`);
  judgePending(db, ids, report);
  if (deletions.length > 0) judgeDeletions(db, deletions, ids, report);
  db.$client.exec("DROP TABLE pending");
  reportLongUsers(db, mostUnlocks, report);
}

/** Copies the companies' names into the rows of the users that match `which`. */
export function nameCompanies(db: Database, which: SQL): void {
  const name = sql`SELECT name FROM company WHERE company.id = user.company_id`;
  db.run(sql`UPDATE user SET company_name = (${name}) WHERE ${which}`);
}

/** Judges the pending users, except those who have become private since. */
function judgePending({ $client }: Database, ids: Ids, report: ReportError): void {
  // If user 8 in the example of missingOf is pending and stands on line 2, this selects
  // (company.id, company, 3, 8, 2).
  const missing = $client.prepare<Reference>(
    `SELECT field, type, missing.id, user, at
      FROM (${missingOf("pending JOIN user USING (id)")}) AS missing
      JOIN pending ON pending.id = user ORDER BY at, rank`,
  );
  for (const { field, user, at, ...found } of missing.iterate()) {
    const problem = mustExist(field, found.type, ids.inSource(found));
    report({ ...problem, at, type: "user", id: user, missing: found });
  }
}

/** Reads all users, because any of them may refer to a record that has been deleted. */
function judgeDeletions(
  { $client }: Database,
  deletions: readonly Deletion[],
  ids: Ids,
  report: ReportError,
): void {
  // If role 5 in the example of missingOf is missing because line 2 deletes it, this selects
  // (role, 5, 9, 2). MATERIALIZED and CROSS have SQLite look each reference up in an index of the
  // deletions.
  const referenced = $client.prepare<Omit<Reference, "field">>(
    `WITH deletion AS MATERIALIZED (SELECT
        value ->> 'type' AS type, value ->> 'id' AS id, value ->> 'at' AS at
        FROM json_each(?))
      SELECT type, id, user, at FROM (${missingOf("user")}) CROSS JOIN deletion USING (type, id)
      ORDER BY at, user`,
  );
  for (const { user, at, ...found } of referenced.iterate(JSON.stringify(deletions))) {
    const kind = "is still referenced";
    const reason = `${found.type} ${ids.inSource(found)} ${kind}`;
    report({ field: "id", reason, kind, at, type: "user", id: user, missing: found });
  }
}

/** A reference to a record that does not exist. */
interface Reference extends RecordKey {
  field: string;
  user: number;
  /** Where the user stands, or where the record is deleted. */
  at: Position;
}

/**
 * Selects the references to records that do not exist, of rows of `user` or of a table called so.
 * For example, if there is role 1 but no role 5 and no company:
 *
 * | id | company_id | roles | achievements | becomes (rank, field, type, id, user) |
 * |---|---|---|---|---|
 * | 7 | null | [1] | [] | nothing |
 * | 8 | 3 | [1] | [] | (1, company.id, company, 3, 8) |
 * | 9 | null | [1,5] | [[2,1,1700000000]] | (2, roles, role, 5, 9), (3, achievements, achievement, 2, 9) |
 */
export function missingOf(users: string): string {
  return `SELECT 1 AS rank, 'company.id' AS field, 'company' AS type, company_id AS id,
      user.id AS user FROM ${users}
      WHERE company_id IS NOT NULL AND company_id NOT IN (SELECT id FROM company)
    UNION ALL SELECT 2, 'roles', 'role', value, user.id FROM ${users}, json_each(roles)
      WHERE value NOT IN (SELECT id FROM role)
    UNION ALL SELECT 3, 'achievements', 'achievement', value ->> 0, user.id
      FROM ${users}, json_each(achievements)
      WHERE value ->> 0 NOT IN (SELECT id FROM achievement)`;
}

function reportLongUsers(db: Database, most: number, report: ReportError): void {
  for (const { id, name, bytes } of listLongUsers(db, most)) {
    const kind = `must take at most ${MAX_ACHIEVEMENTS_BYTES / 1024} KB in a response`;
    const reason = `${kind}, got ${Math.ceil(bytes / 1024)} KB for ${JSON.stringify(name)}`;
    report({ field: "achievements", reason, kind, type: "user", id });
  }
}

/** More bytes than an entry adds to the JSON of its definition. */
const ENTRY_BYTES = 100;

export type UserUnlocks = Pick<typeof user.$inferSelect, "id" | "name" | "achievements">;

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
