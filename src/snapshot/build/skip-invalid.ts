/**
 * Writes the lines of a dataset as rows and leaves out what is wrong: a line as a whole, or the optional
 * fields of a user if nothing else is wrong, and of other lines the references to what is not there.
 * Where lines do not agree on whether a user is public, or one of them is too broken to say, the user is
 * private. A line that may hide a user, but does not say which one, is not left out: it is an error.
 */
import { eq, sql } from "drizzle-orm";
import { type DatasetLine, parseWithoutInvalidFields } from "../../domain/dataset.ts";
import { findHiddenUsers } from "../../domain/hidden-users.ts";
import type { Database } from "../../sqlite/driver.ts";
import { company, user } from "../format/schema.ts";
import type { LineHandler } from "./dataset.ts";
import { createRowWriter } from "./rows.ts";

export function createSkippingWriter(db: Database) {
  const { known, ...writer } = createRowWriter(db);
  // On disk, as a hopeless dataset may have millions, and in the file that is swept; see rows.ts.
  db.$client.exec("CREATE TABLE hidden (id INTEGER PRIMARY KEY)");
  const hide = db.$client.prepare("INSERT OR IGNORE INTO hidden VALUES (?)");

  /** Leaves out of the rows of these users what is not there. */
  function dropReferences(users: Iterable<number>): void {
    const id = sql.placeholder("id");
    const findUser = db.select().from(user).where(eq(user.id, id)).prepare();
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
    const findCompany = db.select().from(company).where(eq(company.id, id)).prepare();
    for (const id of users) {
      const row = findUser.get({ id });
      if (!row) continue;
      // The name of a company that is not there is none already.
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

  /** Whether the rows of some line are not all that it says. */
  let hasTakenBack = false;

  return {
    ...writer,
    hasTakenBack: () => hasTakenBack,
    skip({ text, problem, number }) {
      const ids = findHiddenUsers(text, problem !== undefined);
      if (!ids) {
        const reason =
          "cannot be left out: it may hide a user whose id cannot be read; correct or remove it";
        return { refused: [{ field: "", reason }] };
      }
      for (const id of ids) hide.run(id);
      const rest = problem === undefined ? parseWithoutInvalidFields(text) : undefined;
      if (!rest || writer.add(rest.line, number).length > 0) return {};
      hasTakenBack = true;
      return { lost: rest.lost };
    },
    *finish() {
      const losing = new Set<number>();
      for (const error of writer.finish()) {
        if (error.id !== undefined) losing.add(error.id);
        yield error;
      }
      const hideUsers = db.$client.prepare(
        "INSERT INTO private_user SELECT id FROM user WHERE id IN (SELECT id FROM hidden)",
      );
      if (Number(hideUsers.run().changes) > 0 || losing.size > 0) hasTakenBack = true;
      db.$client.exec(`
        DELETE FROM user WHERE id IN (SELECT id FROM hidden);
        DROP TABLE hidden;
      `);
      dropReferences(losing);
    },
  } satisfies LineHandler<DatasetLine> & { hasTakenBack(): boolean };
}
