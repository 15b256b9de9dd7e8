/**
 * Writes each line of a dataset as a row and skips whatever is invalid: a user's optional fields,
 * references to records that do not exist, or else the whole line. A user becomes private if the
 * lines about that user disagree on whether the user is private, or if one of them is too broken to
 * tell. A line that may make a user private without saying which user is an error.
 */
import { eq, sql } from "drizzle-orm";
import { parseWithoutInvalidFields } from "../../domain/dataset.ts";
import { findHiddenUsers } from "../../domain/hidden-users.ts";
import type { TextLine } from "../../files/lines.ts";
import type { Database } from "../../sqlite/driver.ts";
import { company, user } from "../format/schema.ts";
import type { FinalError } from "./line-errors.ts";
import type { Skipped } from "./read-dataset.ts";
import { RowWriter } from "./rows.ts";

export class SkippingWriter extends RowWriter {
  /** Whether any line was kept only in part. */
  hasPartialLines = false;
  private readonly hide: { run(id: number): unknown };

  constructor(db: Database) {
    super(db);
    // This table is on disk because a bad dataset may hide millions of users. A TEMP table would be
    // in memory.
    db.$client.exec("CREATE TABLE hidden (id INTEGER PRIMARY KEY)");
    this.hide = db.$client.prepare("INSERT OR IGNORE INTO hidden VALUES (?)");
  }

  skip({ text, problem, number }: TextLine): Skipped {
    const ids = findHiddenUsers(text, problem !== undefined);
    if (!ids) {
      const reason =
        "cannot be skipped: it may make a user private, but has no id that can be read; " +
        "correct or remove it";
      return { refused: [{ field: "", reason }] };
    }
    for (const id of ids) this.hide.run(id);
    const rest = problem === undefined ? parseWithoutInvalidFields(text) : undefined;
    if (!rest || this.add(rest.line, number).length > 0) return {};
    this.hasPartialLines = true;
    return { lost: rest.lost };
  }

  override *finish(): Generator<FinalError> {
    const usersWithMissing = new Set<number>();
    for (const error of super.finish()) {
      if (error.id !== undefined) usersWithMissing.add(error.id);
      yield error;
    }
    const hideUsers = this.db.$client.prepare(
      "INSERT INTO private_user SELECT id FROM user WHERE id IN (SELECT id FROM hidden)",
    );
    if (Number(hideUsers.run().changes) > 0 || usersWithMissing.size > 0)
      this.hasPartialLines = true;
    this.db.$client.exec(`
      DELETE FROM user WHERE id IN (SELECT id FROM hidden);
      DROP TABLE hidden;
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
