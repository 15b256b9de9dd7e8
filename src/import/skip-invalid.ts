/**
 * Handles the records of an import with `--skip-invalid`, as src/domain/README.md says:
 *
 * | record | becomes |
 * |---|---|
 * | a role, achievement or company that is invalid | absent |
 * | a user who is invalid only in parts that a user may lack | a row without these parts; the id is in `trimmed` |
 * | another valid record of a public user | a row of `repeated`, until the last record has been read |
 * | any other user who is invalid or whose id is taken | private |
 *
 * After the last record:
 *
 * | user | becomes |
 * |---|---|
 * | refers to a record that does not exist, or has too many achievements | `trimmed` |
 * | is in `repeated`, and one of the records is `trimmed` | private |
 * | is in `trimmed` | public, without references to records that do not exist |
 */
import { type DatasetLine, isPublicUser } from "../domain/dataset.ts";
import type { Position, RecordKey } from "../domain/record-reader.ts";
import { InvalidRecord, salvageUser, validateRecord } from "../domain/validate-record.ts";
import type { Database } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import type { ReportError } from "./read-dataset.ts";
import { createRows, listLongUsers, missingOf, toUserRow, type UserUnlocks } from "./write-rows.ts";

export function createSkippingHandler(db: Database, ids: Ids) {
  const rows = createRows(db, ids);
  const { $client } = db;
  // A bad dataset may trim millions of users, so these are no TEMP tables, which are in memory.
  $client.exec(`CREATE TABLE trimmed (id INTEGER PRIMARY KEY);
    CREATE TABLE repeated AS
      SELECT id, name, company_id, roles, achievements FROM user WHERE FALSE`);
  const trim = $client.prepare("INSERT OR IGNORE INTO trimmed VALUES (?)");
  const addRepeated = $client.prepare(`INSERT INTO repeated
    SELECT ?, ?, ?, ?, ? WHERE ? NOT IN (SELECT id FROM private_user)`);

  /** How many achievements a record in `repeated` has at most. */
  let maxRepeated = 0;
  let madePrivate = 0;

  function hide(id: number): void {
    if (rows.hide(id)) madePrivate++;
  }

  function skip(
    { type, id }: RecordKey,
    invalid: DatasetLine | InvalidRecord,
    at: Position,
  ): string {
    if (type !== "user") return "";

    const rest = invalid instanceof InvalidRecord && salvageUser(invalid);
    if (rest && rows.add(rest, at).length === 0) {
      trim.run(id);
      return "; the rest of the user is kept";
    }

    const isPublic = !(invalid instanceof InvalidRecord) && isPublicUser(invalid);
    if (isPublic) {
      const { name, company_id, roles, achievements } = toUserRow(invalid);
      maxRepeated = Math.max(maxRepeated, invalid.achievements?.length ?? 0);
      const repeated = addRepeated.run(id, name, company_id, roles, achievements, id);
      if (repeated.changes > 0) return "";
    }
    hide(id);
    return "; the user becomes private";
  }

  /** Shortens lists of achievements that are too long for a response to the newest ones that fit. */
  function shortenAchievements(): void {
    const shorten = $client.prepare("UPDATE user SET achievements = ? WHERE id = ?");
    for (const { id, fitting } of listLongUsers(db, rows.totals.maxUnlocks)) {
      shorten.run(JSON.stringify(fitting), id);
    }
  }

  /**
   * Makes users private who have several records, if there is something wrong with one. For example,
   * if there is no role 5:
   *
   * | user | the first record | `repeated` has | becomes |
   * |---|---|---|---|
   * | 7 | has nothing wrong | one with nothing wrong | as in the first record |
   * | 8 | is in `trimmed` | one with nothing wrong | private |
   * | 9 | has nothing wrong | one with role 5, so 9 is added to `trimmed` | private |
   */
  function hideRepeated(report: ReportError): void {
    $client.exec(`INSERT OR IGNORE INTO trimmed
      SELECT user FROM (${missingOf("repeated AS user")})`);
    const repeated = $client.prepare<UserUnlocks>("SELECT id, name, achievements FROM repeated");
    const long = listLongUsers(db, maxRepeated, repeated.iterate());
    for (const { id } of long) trim.run(id);

    const invalid = $client.prepare<{ id: number }>(`SELECT id FROM user
      WHERE id IN (SELECT id FROM repeated) AND id IN (SELECT id FROM trimmed)`);
    for (const { id } of invalid.all()) {
      hide(id);
      const reason = "one of several records is invalid; the user becomes private";
      report({ field: "id", reason, type: "user", id });
    }
  }

  /**
   * Removes from trimmed users all references to records that do not exist. For example, if there
   * are role 1 and achievement 2 but no company:
   *
   * | | company_id | roles | achievements |
   * |---|---|---|---|
   * | before | 3 | [1,5] | [[4,1,1700000000],[2,1,1600000000]] |
   * | after | null | [1] | [[2,1,1600000000]] |
   */
  function removeReferences(): void {
    // The name of a missing company is already null, because there was none to copy.
    $client.exec(`UPDATE user SET
      (company_id, company_role) =
        (SELECT company_id, company_role WHERE company_id IN (SELECT id FROM company)),
      roles = (SELECT json_group_array(value ORDER BY key) FROM json_each(roles)
        WHERE value IN (SELECT id FROM role)),
      achievements = (SELECT json_group_array(json(value) ORDER BY key)
        FROM json_each(achievements) WHERE value ->> 0 IN (SELECT id FROM achievement))
      WHERE id IN (SELECT id FROM trimmed)`);
  }

  function complete(report: ReportError): number {
    rows.complete((error) => {
      if (error.type === "user") trim.run(Number(error.id));
      report(error);
    });
    shortenAchievements();
    hideRepeated(report);
    removeReferences();
    $client.exec("DROP TABLE trimmed; DROP TABLE repeated");
    return madePrivate;
  }

  return { validate: validateRecord, add: rows.add, skip, complete };
}
