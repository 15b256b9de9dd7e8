/**
 * Writes the lines of a dataset as rows and leaves out what is wrong: a wrong line as a whole, and of
 * other lines the references to what is not there. Where lines do not agree on whether a user is
 * public, or one of them is too broken to say, the user is private.
 */
import { listUsersHiddenBy } from "../../domain/dataset.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { packRoles, packUnlocks } from "../format/user-lists.ts";
import { createRowWriter, listReferences, type RowWriter } from "./rows.ts";

export interface SkippingWriter extends RowWriter {
  /** Takes note of a line that is left out. */
  skip(text: string): void;
}

export function createSkippingWriter(db: Sqlite): SkippingWriter {
  const writer = createRowWriter(db);
  // On disk, as a hopeless dataset may have millions, and in the file that is swept; see rows.ts.
  db.exec("CREATE TABLE hidden (id INTEGER PRIMARY KEY)");
  const hide = db.prepare("INSERT OR IGNORE INTO hidden VALUES (?)");
  return {
    add: writer.add,
    skip(text) {
      for (const id of listUsersHiddenBy(text)) hide.run(id);
    },
    *finish() {
      let hasLostReferences = false;
      for (const error of writer.finish()) {
        hasLostReferences = true;
        yield error;
      }
      hideUsers(db);
      if (hasLostReferences) dropReferences(db);
    },
  };
}

function hideUsers(db: Sqlite): void {
  db.exec(`
    INSERT INTO private_user SELECT id FROM user WHERE id IN (SELECT id FROM hidden);
    DELETE FROM user WHERE id IN (SELECT id FROM hidden);
    DROP TABLE hidden;
  `);
}

function dropReferences(db: Sqlite): void {
  db.exec(`
    UPDATE user SET company_id = NULL, company_role = NULL
     WHERE company_id NOT IN (SELECT id FROM company);
  `);
  const idsOf = (table: "role" | "achievement") =>
    new Set(
      db
        .prepare<{ id: number }>(`SELECT id FROM ${table}`)
        .all()
        .map(({ id }) => id),
    );
  const [knownRoles, knownAchievements] = [idsOf("role"), idsOf("achievement")];
  const setLists = db.prepare("UPDATE user SET roles = ?, achievements = ? WHERE id = ?");
  for (const { id, roles, unlocks } of listReferences(db)) {
    const kept = {
      roles: roles.filter((role) => knownRoles.has(role)),
      unlocks: unlocks.filter(({ achievementId }) => knownAchievements.has(achievementId)),
    };
    if (kept.roles.length === roles.length && kept.unlocks.length === unlocks.length) continue;
    setLists.run(packRoles(kept.roles), packUnlocks(kept.unlocks), id);
  }
}
