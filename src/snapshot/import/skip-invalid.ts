/**
 * Writes each line of a dataset as a row and skips whatever is invalid. A user whose only errors
 * are in optional fields keeps the profile without them. Every other user with an invalid line
 * becomes private, and so does a user with several lines of which one is private. Any other record
 * is left out. References to missing records are dropped.
 */
import { eq, sql } from "drizzle-orm";
import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
import {
  type DatasetLine,
  InvalidLine,
  type RecordKey,
  salvageUser,
} from "../../domain/dataset.ts";
import type { Database } from "../../sqlite/driver.ts";
import type { IdMap } from "../../tables/id-map.ts";
import { privateUser, user } from "../format/schema.ts";
import type { LineError } from "./line-errors.ts";
import { type Consequence, consequences } from "./read-dataset.ts";
import { listLongUsers, RowWriter } from "./rows.ts";

export class SkippingWriter extends RowWriter {
  private readonly faulty: ReturnType<typeof prepareFaulty>;

  constructor(db: Database, idMap?: IdMap) {
    super(db, idMap);
    this.faulty = prepareFaulty(db);
  }

  skip({ type, id }: RecordKey, invalid: DatasetLine | InvalidLine, number: number): Consequence {
    if (type !== "user") return consequences.leftOut;
    if (invalid instanceof InvalidLine) {
      const rest = salvageUser(invalid);
      if (rest && this.add(rest, number).length === 0) {
        this.faulty.add.run({ id });
        return consequences.trimmed;
      }
    } else if ("public" in invalid && invalid.public) {
      // A second line, which matters only if there is something wrong with the first.
      const { changes } = this.faulty.hideAgain.run({ id });
      return changes > 0 ? consequences.hidden : consequences.leftOut;
    }
    this.faulty.hide.run({ id });
    return consequences.hidden;
  }

  override *finish(): Generator<LineError> {
    const { db } = this;
    for (const error of super.finish()) {
      if (error.missing && error.id !== undefined) this.faulty.add.run({ id: error.id });
      yield error;
    }
    const achievements = sql`${sql.placeholder("achievements")}`;
    const trim = db.update(user).set({ achievements }).where(eq(user.id, id)).prepare();
    for (const { id, fitting } of listLongUsers(db, this.longestList)) {
      trim.run({ id, achievements: JSON.stringify(fitting) });
    }
    const hidden = db.select({ id: faulty.id }).from(faulty).where(eq(faulty.is_hidden, true));
    this.hidden = Number(db.insert(privateUser).select(hidden).onConflictDoNothing().run().changes);
    // The name of a missing company is already null, because there was none to copy.
    db.$client.exec(`
      DELETE FROM user WHERE id IN (SELECT id FROM faulty WHERE is_hidden);
      UPDATE user SET
        (company_id, company_role) =
          (SELECT company_id, company_role WHERE company_id IN (SELECT id FROM company)),
        roles = (SELECT json_group_array(value ORDER BY key) FROM json_each(roles)
          WHERE value IN (SELECT id FROM role)),
        achievements = (SELECT json_group_array(json(value) ORDER BY key)
          FROM json_each(achievements) WHERE value ->> 0 IN (SELECT id FROM achievement))
        WHERE id IN (SELECT id FROM faulty);
      DROP TABLE faulty;
    `);
  }
}

const faulty = sqliteTable("faulty", {
  id: integer().primaryKey(),
  is_hidden: integer({ mode: "boolean" }).notNull(),
});
const id = sql.placeholder("id");

/** Creates the table of users with errors, and its statements. */
function prepareFaulty(db: Database) {
  // On disk, unlike a TEMP table, because a bad dataset may hide millions of users.
  db.$client.exec("CREATE TABLE faulty (id INTEGER PRIMARY KEY, is_hidden INTEGER NOT NULL)");
  const hidden = { is_hidden: true };
  const hide = db.insert(faulty).values({ id, ...hidden });
  return {
    add: db.insert(faulty).values({ id, is_hidden: false }).onConflictDoNothing().prepare(),
    hide: hide.onConflictDoUpdate({ target: faulty.id, set: hidden }).prepare(),
    hideAgain: db.update(faulty).set(hidden).where(eq(faulty.id, id)).prepare(),
  };
}
