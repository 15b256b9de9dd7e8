/**
 * The references of users to companies, roles and achievements. Only after the last record, it is known
 * whether these records exist, and whether a user's achievements would take too much of a response.
 */
import { type SQL, sql } from "drizzle-orm";
import { MAX_ACHIEVEMENTS_BYTES } from "../domain/model.ts";
import type { RecordId, ReportError } from "../domain/raw-records.ts";
import { mustExist } from "../domain/validation-errors.ts";
import { encodeUnlocks } from "../snapshot/format/records.ts";
import { achievement, type Unlock, user } from "../snapshot/format/schema.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";

/** Copies the companies' names into the rows of the users that match `which`. */
export function nameCompanies(db: Database, which: SQL): void {
  const name = sql`SELECT name FROM company WHERE company.id = user.company_id`;
  db.run(sql`UPDATE user SET company_name = (${name}) WHERE ${which}`);
}

/**
 * Reports the missing records to which the users in the table `pending` refer (write-rows.ts), except
 * those who have become private since.
 */
export function judgePending({ $client }: Database, ids: Ids, report: ReportError): void {
  // If user 8 in the example of missingOf is pending and stands on line 2, this selects
  // (company.id, company, 3, 8, 2).
  const references = $client.prepare<Reference>(
    `SELECT field, type, missing.id, user, line
      FROM (${missingOf("pending JOIN user USING (id)")}) AS missing
      JOIN pending ON pending.id = user ORDER BY line, user, rank`,
  );
  for (const { field, user, line, ...missing } of references.iterate()) {
    const problem = mustExist(field, missing.type, ids.inSource(missing));
    report({ ...problem, line, type: "user", id: user });
  }
}

/** A reference to a record that does not exist. */
interface Reference extends RecordId {
  field: string;
  user: number;
  /** The line of the user, or the one that deletes the record. */
  line: number;
}

/**
 * Selects the references to records that do not exist, of all rows of `user` or of a join with it.
 * For example, if there is role 1 but no role 5 and no company:
 *
 * | id | company_id | roles | achievements | becomes (rank, field, type, id, user) |
 * |---|---|---|---|---|
 * | 7 | null | [1] | [] | nothing |
 * | 8 | 3 | [1] | [] | (1, company.id, company, 3, 8) |
 * | 9 | null | [1,5] | [[2,1,1700000000]] | (2, roles, role, 5, 9), (3, achievements, achievement, 2, 9) |
 */
function missingOf(users: string): string {
  return `SELECT 1 AS rank, 'company.id' AS field, 'company' AS type, company_id AS id,
      user.id AS user FROM ${users}
      WHERE company_id IS NOT NULL AND company_id NOT IN (SELECT id FROM company)
    UNION ALL SELECT 2, 'roles', 'role', value, user.id FROM ${users}, json_each(roles)
      WHERE value NOT IN (SELECT id FROM role)
    UNION ALL SELECT 3, 'achievements', 'achievement', value ->> 0, user.id
      FROM ${users}, json_each(achievements)
      WHERE value ->> 0 NOT IN (SELECT id FROM achievement)`;
}

/** Reports the users who refer to a deleted record. Reads all users, because any of them may. */
export function judgeDeletions(
  { $client }: Database,
  deletions: readonly (RecordId & { line: number })[],
  ids: Ids,
  report: ReportError,
): void {
  // If role 5 in the example of missingOf is missing because line 2 deletes it, this selects
  // (role, 5, 9, 2). MATERIALIZED and CROSS have SQLite look each reference up in an index of the
  // deletions.
  const references = $client.prepare<Omit<Reference, "field">>(
    `WITH deletion AS MATERIALIZED (SELECT
        value ->> 'type' AS type, value ->> 'id' AS id, value ->> 'line' AS line
        FROM json_each(?))
      SELECT type, id, user, line FROM (${missingOf("user")}) CROSS JOIN deletion USING (type, id)
      ORDER BY line, user`,
  );
  for (const { user, line, ...deleted } of references.iterate(JSON.stringify(deletions))) {
    const missing = { type: deleted.type, id: ids.inSource(deleted) };
    const group = "is still referenced";
    const reason = `${missing.type} ${missing.id} ${group}`;
    report({ field: "id", reason, group, line, type: "user", id: user, missing });
  }
}

export function reportLongUsers(db: Database, maxUnlocks: number, report: ReportError): void {
  for (const { id, name, bytes } of listLongUsers(db, maxUnlocks)) {
    const group = `must take at most ${MAX_ACHIEVEMENTS_BYTES / 1024} KB in a response`;
    const reason = `${group}, got ${Math.ceil(bytes / 1024)} KB for ${JSON.stringify(name)}`;
    report({ field: "achievements", reason, group, type: "user", id });
  }
}

/** More bytes than an entry adds to the JSON of its definition. */
const ENTRY_BYTES = 100;

/**
 * Yields each user whose achievements are too long for a response, with the newest of them that fit.
 * Reads no users if `maxUnlocks` achievements would fit even if all definitions were as long as the
 * longest.
 */
export function* listLongUsers(db: Database, maxUnlocks: number) {
  const rows = db.select().from(achievement).all();
  const definitions = new Map(rows.map((row) => [row.id, JSON.stringify(row)]));
  const sizes = definitions.values().map((json) => Buffer.byteLength(json));
  const longest = sizes.reduce((max, size) => Math.max(max, size), 0);
  if (maxUnlocks * (longest + ENTRY_BYTES) <= MAX_ACHIEVEMENTS_BYTES) return;

  const users = db
    .select({ id: user.id, name: user.name, achievements: user.achievements })
    .from(user);
  for (const { id, name, achievements } of prepareText(db, users).iterate()) {
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
