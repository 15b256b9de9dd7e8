/**
 * Writes each record of a dataset as a row and skips whatever is invalid. The section `--skip-invalid`
 * of src/domain/README.md says what is left of a record.
 */
import { and, eq, isNotNull, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { type DatasetLine, isPublicUser, type RecordKey } from "../domain/dataset.ts";
import type { FoundError, Position } from "../domain/record-reader.ts";
import { InvalidRecord, salvageUser, validateRecord } from "../domain/validate-record.ts";
import { createTable, privateUser, user } from "../snapshot/format/schema.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import type { RecordHandler, Report, Skipped } from "./record-handler.ts";
import { listUnlocks, RowWriter } from "./row-writer.ts";

/**
 * The users who have lost part of their record. On disk, unlike a TEMP table, because a bad dataset
 * may trim millions of users.
 */
const trimmed = sqliteTable("trimmed", {
  id: integer().primaryKey(),
  /** The achievements that are left, if all would be too long for a response. */
  achievements: text(),
});

/** The other records of users with several valid public ones, of which the first counts. */
const repeated = sqliteTable("repeated", {
  id: integer().notNull(),
  name: text().notNull(),
  achievements: text().notNull(),
});

export class SkippingWriter implements RecordHandler<DatasetLine> {
  readonly validate = validateRecord;
  readonly #db: Database;
  readonly #rows: RowWriter;
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(db: Database, ids: Ids) {
    createTable(db.$client, trimmed);
    createTable(db.$client, repeated);
    this.#db = db;
    this.#rows = new RowWriter(db, ids);
    this.#statements = prepareStatements(db);
  }

  add(record: DatasetLine, at: Position): FoundError[] {
    return this.#rows.add(record, at);
  }

  skip({ type, id }: RecordKey, invalid: DatasetLine | InvalidRecord, at: Position): Skipped {
    if (type !== "user") return "left out";

    const rest = invalid instanceof InvalidRecord && salvageUser(invalid);
    if (rest && this.#rows.add(rest, at).length === 0) {
      this.#statements.trim.run({ id });
      return "trimmed";
    }

    const isPublic = !(invalid instanceof InvalidRecord) && isPublicUser(invalid);
    if (isPublic && !this.#isImpaired(id)) {
      const achievements = JSON.stringify(listUnlocks(invalid.achievements));
      this.#statements.repeat.run({ id, name: invalid.name, achievements });
      this.#rows.noteRepeated(invalid, at);
      return "left out";
    }

    return this.#rows.hide(id) ? "made private" : "private already";
  }

  finish(report: Report): void {
    this.#rows.finish((error) => {
      if (error.missing) this.#statements.trim.run({ id: error.id });
      report(error);
    });
    this.#shortenAchievements();
    this.#hideRepeated(report);
    this.#removeReferences();
    this.#db.run(sql`DROP TABLE ${trimmed}`);
    this.#db.run(sql`DROP TABLE ${repeated}`);
  }

  /** Makes users private who have lost something, if they have several records. */
  #hideRepeated(report: Report): void {
    const others = prepareText(this.#db, this.#db.select().from(repeated)).iterate();
    for (const { id } of this.#rows.listLongUsers(others)) this.#statements.trim.run({ id });
    const users = this.#db
      .selectDistinct({ id: repeated.id })
      .from(repeated)
      .innerJoin(trimmed, eq(trimmed.id, repeated.id))
      .innerJoin(user, eq(user.id, repeated.id));
    for (const { id } of users.all()) {
      this.#rows.hide(id);
      const reason = "one of several records is invalid; the user becomes private";
      report({ field: "id", reason, type: "user", id }, "made private");
    }
  }

  /** Whether the user has lost part of a record or is private. */
  #isImpaired(id: number): boolean {
    const { findTrimmed, findPrivate } = this.#statements;
    return findTrimmed.get({ id }) !== undefined || findPrivate.get({ id }) !== undefined;
  }

  /** Keeps of the achievements of a user those that fit into a response. */
  #shortenAchievements(): void {
    // In two steps, because users must not change while they are read.
    for (const { id, fitting } of this.#rows.listLongUsers()) {
      this.#statements.shorten.run({ id, achievements: JSON.stringify(fitting) });
    }
    this.#db
      .update(user)
      .set({ achievements: sql`${trimmed.achievements}` })
      .from(trimmed)
      .where(and(eq(user.id, trimmed.id), isNotNull(trimmed.achievements)))
      .run();
  }

  /** Removes from the users who have lost something all references to records that do not exist. */
  #removeReferences(): void {
    // The name of a missing company is already null, because there was none to copy.
    this.#db.run(sql`
      UPDATE user SET
        (company_id, company_role) =
          (SELECT company_id, company_role WHERE company_id IN (SELECT id FROM company)),
        roles = (SELECT json_group_array(value ORDER BY key) FROM json_each(roles)
          WHERE value IN (SELECT id FROM role)),
        achievements = (SELECT json_group_array(json(value) ORDER BY key)
          FROM json_each(achievements) WHERE value ->> 0 IN (SELECT id FROM achievement))
        WHERE id IN (SELECT id FROM trimmed)
    `);
  }
}

function prepareStatements(db: Database) {
  const id = sql.placeholder("id");
  const achievements = sql.placeholder("achievements");
  return {
    trim: db.insert(trimmed).values({ id }).onConflictDoNothing().prepare(),
    shorten: db
      .insert(trimmed)
      .values({ id, achievements })
      .onConflictDoUpdate({ target: trimmed.id, set: { achievements: sql`excluded.achievements` } })
      .prepare(),
    repeat: db
      .insert(repeated)
      .values({ id, name: sql.placeholder("name"), achievements })
      .prepare(),
    findTrimmed: db.select({ id: trimmed.id }).from(trimmed).where(eq(trimmed.id, id)).prepare(),
    findPrivate: db.select().from(privateUser).where(eq(privateUser.id, id)).prepare(),
  };
}
