/**
 * Finds the users who refer to a record that does not exist. Records may come in any order, so a
 * reference is judged only after the last record.
 */
import { type SQL, sql } from "drizzle-orm";
import type { RecordKey } from "../domain/dataset.ts";
import type { Position } from "../domain/record-reader.ts";
import { mustExist } from "../domain/validation-errors.ts";
import type { Database, Statement } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import type { Report } from "./read-dataset.ts";

/** A reference as it is in the table `pending`. */
interface Pending extends RecordKey {
  at: Position;
  field: string;
  user: number;
}

export class References {
  readonly #db: Database;
  readonly #ids: Ids;
  readonly #add: Statement<unknown>;
  readonly #deletions: (RecordKey & { at: Position })[] = [];

  constructor(db: Database, ids: Ids) {
    this.#db = db;
    this.#ids = ids;
    // The references may be all of the dataset's, so the table must be on disk. A TEMP table would
    // be in memory (see temp_store in snapshot-writer.ts).
    db.$client.exec(
      "CREATE TABLE pending (at INTEGER, field TEXT, type TEXT, id INTEGER, user INTEGER)",
    );
    this.#add = db.$client.prepare("INSERT INTO pending VALUES (?, ?, ?, ?, ?)");
  }

  /** Notes that a field of a user refers to a record that has not been read yet. */
  add(at: Position, field: string, { type, id }: RecordKey, user: number): void {
    this.#add.run(at, field, type, id, user);
  }

  /** Notes that a change deletes a record, to which users may still refer. */
  addDeletion(at: Position, { type, id }: RecordKey): void {
    this.#deletions.push({ at, type, id });
  }

  /** Selects the users whose company had not been read before them. */
  usersBeforeCompany(): SQL {
    return sql`SELECT user FROM pending WHERE type = 'company'`;
  }

  finish(report: Report): void {
    for (const { at, field, user, ...missing } of this.#iterateMissing()) {
      const error = mustExist(field, missing.type, this.#ids.inSource(missing));
      report({ at, ...error, type: "user", id: user, missing });
    }
    this.#db.$client.exec("DROP TABLE pending");

    for (const { at, user, ...missing } of this.#iterateDeleted()) {
      const kind = "is still referenced";
      const reason = `${missing.type} ${this.#ids.inSource(missing)} ${kind}`;
      report({ at, field: "id", reason, kind, type: "user", id: user, missing });
    }
  }

  /** Leaves out users who have become private since, of whom nothing is checked. */
  #iterateMissing(): Iterable<Pending> {
    return this.#db.$client
      .prepare<Pending>(
        `SELECT at, field, type, id, user FROM pending
          WHERE user IN (SELECT id FROM user) AND NOT CASE type
            WHEN 'role' THEN id IN (SELECT id FROM role)
            WHEN 'company' THEN id IN (SELECT id FROM company)
            ELSE id IN (SELECT id FROM achievement) END
          ORDER BY at, rowid`,
      )
      .iterate();
  }

  /** Reads all users, unless nothing was deleted. */
  #iterateDeleted(): Iterable<Omit<Pending, "field">> {
    if (this.#deletions.length === 0) return [];

    // MATERIALIZED and CROSS have SQLite look each reference up in an index of the deletions.
    return this.#db.$client
      .prepare<Omit<Pending, "field">>(
        `WITH deletion AS MATERIALIZED (SELECT
            value ->> 'type' AS type, value ->> 'id' AS id, value ->> 'at' AS at
            FROM json_each(?))
          SELECT at, type, id, user FROM
          (SELECT 'company' AS type, company_id AS id, id AS user FROM user
            UNION ALL SELECT 'role', value, user.id FROM user, json_each(roles)
            UNION ALL SELECT 'achievement', value ->> 0, user.id FROM user, json_each(achievements))
          CROSS JOIN deletion USING (type, id)
          ORDER BY at, user`,
      )
      .iterate(JSON.stringify(this.#deletions));
  }
}
