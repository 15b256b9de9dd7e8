/**
 * Writes each record of a dataset as a row and skips whatever is invalid. The section `--skip-invalid`
 * of src/domain/README.md says what is left of a record.
 */
import { eq, sql } from "drizzle-orm";
import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
import type { DatasetLine, RecordKey } from "../../domain/dataset.ts";
import type { FoundError, Place } from "../../domain/record-source.ts";
import { salvageUser } from "../../domain/salvage-user.ts";
import { InvalidRecord, validateRecord } from "../../domain/validate-record.ts";
import type { Database } from "../../sqlite/driver.ts";
import { privateUser, user } from "../format/schema.ts";
import { listLongUsers, RowWriter } from "./add-records.ts";
import type { Ids } from "./ids.ts";
import type { RecordHandler } from "./read-dataset.ts";
import type { RecordErrors } from "./record-errors.ts";

/** The users who have lost part of their record. */
const trimmed = sqliteTable("trimmed", { id: integer().primaryKey() });

export class SkippingWriter implements RecordHandler<DatasetLine> {
  readonly validate = validateRecord;
  readonly #db: Database;
  readonly #writer: RowWriter;
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(db: Database, ids: Ids) {
    this.#db = db;
    this.#writer = new RowWriter(db, ids);
    this.#statements = prepareStatements(db);
  }

  add(record: DatasetLine, at: Place): FoundError[] {
    return this.#writer.add(record, at);
  }

  skip(
    { type, id }: RecordKey,
    invalid: DatasetLine | InvalidRecord,
    at: Place,
    skipped: RecordErrors,
  ): string {
    if (type !== "user") return "";
    const { trim, remove, hide } = this.#statements;
    const rest = invalid instanceof InvalidRecord && salvageUser(invalid);
    if (rest && this.#writer.add(rest, at).length === 0) {
      trim.run({ id });
      return "; the rest of the user is kept";
    }
    const first = sql`SELECT 1 FROM trimmed WHERE id = ${id}
      UNION ALL SELECT 1 FROM private_user WHERE id = ${id}`;
    const isPublic = "public" in invalid && invalid.public;
    // A second public record matters only if there is something wrong with the first.
    if (isPublic && this.#db.all(first).length === 0) return "";
    remove.run({ id });
    skipped.hidden += Number(hide.run({ id }).changes);
    return "; the user becomes private";
  }

  *finish(): Generator<FoundError> {
    for (const error of this.#writer.finish()) {
      if (error.missing) this.#statements.trim.run({ id: error.id });
      yield error;
    }
    for (const { id, fitting } of listLongUsers(this.#db, this.#writer.longestList)) {
      const achievements = JSON.stringify(fitting);
      this.#db.run(sql`UPDATE user SET achievements = ${achievements} WHERE id = ${id}`);
    }
    // The name of a missing company is already null, because there was none to copy.
    this.#db.$client.exec(`
      UPDATE user SET
        (company_id, company_role) =
          (SELECT company_id, company_role WHERE company_id IN (SELECT id FROM company)),
        roles = (SELECT json_group_array(value ORDER BY key) FROM json_each(roles)
          WHERE value IN (SELECT id FROM role)),
        achievements = (SELECT json_group_array(json(value) ORDER BY key)
          FROM json_each(achievements) WHERE value ->> 0 IN (SELECT id FROM achievement))
        WHERE id IN (SELECT id FROM trimmed);
      DROP TABLE trimmed;
    `);
  }
}

function prepareStatements(db: Database) {
  // On disk, unlike a TEMP table, because a bad dataset may trim millions of users.
  db.run(sql`CREATE TABLE trimmed (id INTEGER PRIMARY KEY)`);
  const id = sql.placeholder("id");
  return {
    trim: db.insert(trimmed).values({ id }).onConflictDoNothing().prepare(),
    remove: db.delete(user).where(eq(user.id, id)).prepare(),
    hide: db.insert(privateUser).values({ id }).onConflictDoNothing().prepare(),
  };
}
