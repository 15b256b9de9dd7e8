/**
 * Writes the lines of a dataset as rows and leaves out what is wrong: a wrong line as a whole, and of
 * other lines the references to what is not there. Where lines do not agree on whether a user is
 * public, or one of them is too broken to say, the user is private. A line that may hide a user, but
 * does not say which one, is not left out: it is an error.
 */
import type { DatasetLine } from "../../domain/dataset.ts";
import { findHiddenUsers } from "../../domain/hidden-users.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { packRoles, packUnlocks } from "../format/user-lists.ts";
import type { LineHandler } from "./dataset.ts";
import { createRowWriter, listReferences } from "./rows.ts";

export function createSkippingWriter(db: Sqlite) {
  const { known, ...writer } = createRowWriter(db);
  // On disk, as a hopeless dataset may have millions, and in the file that is swept; see rows.ts.
  db.exec("CREATE TABLE hidden (id INTEGER PRIMARY KEY)");
  const hide = db.prepare("INSERT OR IGNORE INTO hidden VALUES (?)");

  function dropReferences(): void {
    db.exec(`UPDATE user SET company_id = NULL, company_role = NULL
              WHERE company_id NOT IN (SELECT id FROM company)`);
    const setLists = db.prepare("UPDATE user SET roles = ?, achievements = ? WHERE id = ?");
    for (const { id, roles, unlocks } of listReferences(db)) {
      const keptRoles = roles.filter((role) => known.role.has(role));
      const keptUnlocks = unlocks.filter((unlock) => known.achievement.has(unlock.achievementId));
      if (keptRoles.length === roles.length && keptUnlocks.length === unlocks.length) continue;
      setLists.run(packRoles(keptRoles), packUnlocks(keptUnlocks), id);
    }
  }

  /** Whether something of a line that was carried out is not in the rows. */
  let hasTakenBack = false;

  return {
    ...writer,
    hasTakenBack: () => hasTakenBack,
    skip(text, isBeginning) {
      const ids = findHiddenUsers(text, isBeginning);
      if (!ids) {
        const reason =
          "cannot be left out: it may hide a user whose id cannot be read; correct or remove it";
        return [{ field: "", reason }];
      }
      for (const id of ids) hide.run(id);
      return [];
    },
    *finish() {
      let hasLostReferences = false;
      for (const error of writer.finish()) {
        hasLostReferences = true;
        yield error;
      }
      const hideUsers = db.prepare(
        "INSERT INTO private_user SELECT id FROM user WHERE id IN (SELECT id FROM hidden)",
      );
      hasTakenBack = hideUsers.run().changes > 0 || hasLostReferences;
      db.exec(`
        DELETE FROM user WHERE id IN (SELECT id FROM hidden);
        DROP TABLE hidden;
      `);
      if (hasLostReferences) dropReferences();
    },
  } satisfies LineHandler<DatasetLine> & { hasTakenBack(): boolean };
}
