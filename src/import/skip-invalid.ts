/**
 * Writes each record of a dataset as a row and skips whatever is invalid. The section `--skip-invalid`
 * of src/domain/README.md says what is left of a record.
 */
import { type DatasetLine, isPublicUser, type RecordKey } from "../domain/dataset.ts";
import type { Position } from "../domain/record-reader.ts";
import { InvalidRecord, salvageUser } from "../domain/validate-record.ts";
import { user } from "../snapshot/format/schema.ts";
import type { Database, Sqlite } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import { listLongUsers, referencesOf, refersToNothing, type UserUnlocks } from "./last-checks.ts";
import type { Report, Skipped } from "./read-dataset.ts";
import { createRowWriter, prepareInsert } from "./row-writer.ts";

export function createSkippingWriter(db: Database, ids: Ids) {
  const rows = createRowWriter(db, ids);
  // `trimmed` has the users who have lost part of their record, and the achievements that are left
  // if all would be too long. `repeated` has the other records of users with several valid public
  // ones, of which the first counts. Both are on disk, unlike TEMP tables, because a bad dataset may
  // trim millions of users.
  db.$client.exec(`CREATE TABLE trimmed (id INTEGER PRIMARY KEY, achievements TEXT);
    CREATE TABLE repeated AS SELECT * FROM user WHERE FALSE`);
  const statements = prepareStatements(db.$client);
  const repeat = prepareInsert(db, user, { into: "repeated", taken: "private_user" });

  function skip(
    { type, id }: RecordKey,
    invalid: DatasetLine | InvalidRecord,
    at: Position,
  ): Skipped {
    if (type !== "user") return "left out";

    const rest = invalid instanceof InvalidRecord && salvageUser(invalid);
    if (rest && rows.add(rest, at).length === 0) {
      statements.trim.run(id);
      return "trimmed";
    }

    const isPublic = !(invalid instanceof InvalidRecord) && isPublicUser(invalid);
    if (isPublic && repeat(rows.toRow(invalid))) return "left out";
    return rows.hide(id) ? "made private" : "private already";
  }

  /** Keeps of the achievements of a user those that fit into a response. */
  function shortenAchievements(): void {
    // In two steps, because users must not change while they are read.
    for (const { id, fitting } of listLongUsers(db, rows.totals.mostUnlocks)) {
      statements.shorten.run(id, JSON.stringify(fitting));
    }
    db.$client.exec(`UPDATE user SET achievements = trimmed.achievements FROM trimmed
      WHERE user.id = trimmed.id AND trimmed.achievements IS NOT NULL`);
  }

  /** Makes users private who have several records, if there is something wrong with one. */
  function hideRepeated(report: Report): void {
    const { listRepeated, trim, trimRepeated, listHidden } = statements;
    trimRepeated.run();
    const long = listLongUsers(db, rows.totals.mostUnlocks, listRepeated.iterate());
    for (const { id } of long) trim.run(id);
    for (const { id } of listHidden.all()) {
      rows.hide(id);
      const reason = "one of several records is invalid; the user becomes private";
      report({ field: "id", reason, type: "user", id }, "made private");
    }
  }

  function finish(report: Report): void {
    rows.finish((error) => {
      if (error.missing) statements.trim.run(Number(error.id));
      report(error);
    });
    shortenAchievements();
    hideRepeated(report);
    removeReferences(db.$client);
    db.$client.exec("DROP TABLE trimmed; DROP TABLE repeated");
  }

  return { ...rows, skip, finish };
}

/** Removes from the users who have lost something all references to records that do not exist. */
function removeReferences(db: Sqlite): void {
  // The name of a missing company is already null, because there was none to copy.
  db.exec(`
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

function prepareStatements(db: Sqlite) {
  return {
    trim: db.prepare("INSERT INTO trimmed (id) VALUES (?) ON CONFLICT DO NOTHING"),
    shorten: db.prepare(`INSERT INTO trimmed VALUES (?, ?)
      ON CONFLICT (id) DO UPDATE SET achievements = excluded.achievements`),
    listRepeated: db.prepare<UserUnlocks>("SELECT id, name, achievements FROM repeated"),
    trimRepeated: db.prepare(`INSERT INTO trimmed (id)
      SELECT user FROM (${referencesOf("repeated AS user")}) AS reference
      WHERE ${refersToNothing("reference")} ON CONFLICT DO NOTHING`),
    listHidden: db.prepare<{ id: number }>(`SELECT id FROM user
      WHERE id IN (SELECT id FROM repeated) AND id IN (SELECT id FROM trimmed)`),
  };
}
