/**
 * Writes each line of a dataset as a row and skips whatever is invalid. A user whose only errors
 * are in optional fields keeps the profile without them. Every other user with an invalid line
 * becomes private, and so does a user with several lines of which one is private. Any other record
 * is left out. References to missing records are dropped.
 */
import { eq, sql } from "drizzle-orm";
import {
  type DatasetLine,
  InvalidLine,
  type RecordKey,
  salvageUser,
} from "../../domain/dataset.ts";
import type { Database } from "../../sqlite/driver.ts";
import { company, user } from "../format/schema.ts";
import type { FinalError } from "./line-errors.ts";
import type { Skipped } from "./read-dataset.ts";
import { listLongUsers, RowWriter } from "./rows.ts";

export class SkippingWriter extends RowWriter {
  /** How many users became private because a line about them is invalid. Set by {@link finish}. */
  hidden = 0;
  private readonly faulty: ReturnType<typeof prepareFaulty>;

  constructor(db: Database) {
    super(db);
    this.faulty = prepareFaulty(db);
  }

  skip({ type, id }: RecordKey, invalid: DatasetLine | InvalidLine, number: number): Skipped {
    if (type !== "user") return "left out";
    if (invalid instanceof InvalidLine) {
      const rest = salvageUser(invalid);
      if (rest && this.add(rest, number).length === 0) {
        this.faulty.add.run(id);
        return "trimmed";
      }
    } else if ("public" in invalid && invalid.public) {
      // A second line, which matters only if there is something wrong with the first.
      return Number(this.faulty.hideAgain.run(id).changes) > 0 ? "private" : "left out";
    }
    this.faulty.hide.run(id);
    return "private";
  }

  override *finish(): Generator<FinalError> {
    const usersWithMissing = new Set<number>();
    for (const error of super.finish()) {
      if (error.missing && error.id !== undefined) usersWithMissing.add(error.id);
      yield error;
    }
    const trim = this.db.$client.prepare("UPDATE user SET achievements = ? WHERE id = ?");
    for (const { id, fitting } of listLongUsers(this.db, this.longestList)) {
      trim.run(JSON.stringify(fitting), id);
    }
    const hideUsers = this.db.$client.prepare(
      "INSERT OR IGNORE INTO private_user SELECT id FROM faulty WHERE is_hidden",
    );
    this.hidden = Number(hideUsers.run().changes);
    this.db.$client.exec(`
      DELETE FROM user WHERE id IN (SELECT id FROM faulty WHERE is_hidden);
      DROP TABLE faulty;
    `);
    this.dropReferences(usersWithMissing);
  }

  /** Removes the references to missing records from the rows of these users. */
  private dropReferences(users: Iterable<number>): void {
    const { db, known } = this;
    const id = sql.placeholder("id");
    const findUser = db.select().from(user).where(eq(user.id, id)).prepare();
    const findCompany = db.select().from(company).where(eq(company.id, id)).prepare();
    const update = db
      .update(user)
      .set({
        companyId: sql`${sql.placeholder("companyId")}`,
        companyRole: sql`${sql.placeholder("companyRole")}`,
        roles: sql`${sql.placeholder("roles")}`,
        achievements: sql`${sql.placeholder("achievements")}`,
      })
      .where(eq(user.id, id))
      .prepare();
    for (const id of users) {
      const row = findUser.get({ id });
      if (!row) continue;
      // The row's company name is already null, because a missing company has no name to copy.
      const hasCompany = row.companyId !== null && findCompany.get({ id: row.companyId });
      const roles = row.roles.filter((role) => known.role.has(role));
      const unlocks = row.achievements.filter(([id]) => known.achievement.has(id));
      update.run({
        id,
        companyId: hasCompany ? row.companyId : null,
        companyRole: hasCompany ? row.companyRole : null,
        roles: JSON.stringify(roles),
        achievements: JSON.stringify(unlocks),
      });
    }
  }
}

/** Prepares the table of the users with an invalid line, and its changes. */
function prepareFaulty({ $client }: Database) {
  // This table is on disk because a bad dataset may hide millions of users. A TEMP table would be
  // in memory.
  $client.exec("CREATE TABLE faulty (id INTEGER PRIMARY KEY, is_hidden INTEGER NOT NULL)");
  return {
    add: $client.prepare("INSERT OR IGNORE INTO faulty VALUES (?, 0)"),
    hide: $client.prepare("INSERT OR REPLACE INTO faulty VALUES (?, 1)"),
    hideAgain: $client.prepare("UPDATE faulty SET is_hidden = 1 WHERE id = ?"),
  };
}
