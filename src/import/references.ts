/**
 * Finds the references of users to records that do not exist. Records may come in any order, so a user
 * who refers to something that has not been read yet is pending, and judged after the last record.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Position, RecordKey } from "../domain/dataset.ts";
import type { PublicUserLine } from "../domain/model.ts";
import { mustExist } from "../domain/validation-errors.ts";
import type { Database } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import type { ReportError } from "./read-dataset.ts";

/** A record that a change deletes, and to which users may still refer. */
export interface Deletion extends RecordKey {
  at: Position;
}

export function createReferences(db: Database, ids: Ids) {
  const { $client } = db;
  // These may be all users, so an import has them on disk, unlike a TEMP table (see temp_store in
  // snapshot-writer.ts).
  $client.exec("CREATE TABLE pending (id INTEGER PRIMARY KEY, at INTEGER)");
  const addPending = $client.prepare("INSERT INTO pending VALUES (?, ?)");
  /** The ids of the roles and achievements read so far. */
  const known = { role: new Set<number>(), achievement: new Set<number>() };

  /** Notes that a user has been written, with the name of the company if that has been read. */
  function note(user: PublicUserLine, companyName: string | null, at: Position): void {
    const { id, company, roles = [], achievements = [] } = user;
    const isComplete =
      (!company || companyName !== null) &&
      roles.every((role) => known.role.has(role)) &&
      achievements.every((unlock) => known.achievement.has(unlock.id));
    if (!isComplete) addPending.run(id, at);
  }

  /** Judges the pending users, except those who have become private since. */
  function judgePending(report: ReportError): void {
    // For example, if 9 is pending from line 2 and there are no roles: (roles, role, 5, 9, 2).
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
  function judgeDeletions(deletions: readonly Deletion[], report: ReportError): void {
    // For example, if role 5 of user 9 is deleted on line 2: (role, 5, 9, 2). MATERIALIZED and CROSS
    // have SQLite look each reference up in an index of the deletions.
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

  function finish(report: ReportError, deletions: readonly Deletion[]): void {
    nameCompanies(db, sql`id IN (SELECT id FROM pending)`);
    judgePending(report);
    if (deletions.length > 0) judgeDeletions(deletions, report);
    $client.exec("DROP TABLE pending");
  }

  return { known, note, finish };
}

/** Copies the companies' names into the rows of the users that match `which`. */
export function nameCompanies(db: Database, which: SQL): void {
  const name = sql`SELECT name FROM company WHERE company.id = user.company_id`;
  db.run(sql`UPDATE user SET company_name = (${name}) WHERE ${which}`);
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
