/**
 * Writes each record of a dataset as a row and skips whatever is invalid. The section `--skip-invalid`
 * of src/domain/README.md says what is left of a record.
 */
import { type DatasetLine, isPublicUser, type RecordKey } from "../domain/dataset.ts";
import type { Position } from "../domain/record-reader.ts";
import { InvalidRecord, salvageUser } from "../domain/validate-record.ts";
import { user } from "../snapshot/format/schema.ts";
import type { Database } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import { listLongUsers, referencesOf, refersToNothing, type UserUnlocks } from "./last-checks.ts";
import type { ReportError, Skipped } from "./read-dataset.ts";
import { createRowWriter, prepareInsert } from "./row-writer.ts";

export function createSkippingWriter(db: Database, ids: Ids) {
  const rows = createRowWriter(db, ids);
  const { $client } = db;
  // `trimmed` has the users who have lost part of their record, and `repeated` the other records of
  // users with several valid public ones, of which the first counts. Both are on disk, unlike TEMP
  // tables, because a bad dataset may trim millions of users.
  $client.exec(`CREATE TABLE trimmed (id INTEGER PRIMARY KEY);
    CREATE TABLE repeated AS SELECT * FROM user WHERE FALSE`);
  const trim = $client.prepare("INSERT INTO trimmed VALUES (?) ON CONFLICT DO NOTHING");
  const repeat = prepareInsert(db, user, { into: "repeated", taken: "private_user" });

  function skip(
    { type, id }: RecordKey,
    invalid: DatasetLine | InvalidRecord,
    at: Position,
  ): Skipped {
    if (type !== "user") return "left out";

    const rest = invalid instanceof InvalidRecord && salvageUser(invalid);
    if (rest && rows.add(rest, at).length === 0) {
      trim.run(id);
      return "trimmed";
    }

    const isPublic = !(invalid instanceof InvalidRecord) && isPublicUser(invalid);
    if (isPublic && repeat(rows.toRow(invalid))) return "left out";
    return rows.hide(id) ? "made private" : "private already";
  }

  /** Keeps of the achievements of users those that fit into a response. */
  function shortenAchievements(): void {
    const shorten = $client.prepare("UPDATE user SET achievements = ? WHERE id = ?");
    for (const { id, fitting } of listLongUsers(db, rows.totals.mostUnlocks)) {
      shorten.run(JSON.stringify(fitting), id);
    }
  }

  /** Makes users private who have several records, if there is something wrong with one. */
  function hideRepeated(report: ReportError): void {
    $client.exec(`INSERT INTO trimmed
      SELECT user FROM (${referencesOf("repeated AS user")}) AS reference
      WHERE ${refersToNothing("reference")} ON CONFLICT DO NOTHING`);
    const repeated = $client.prepare<UserUnlocks>("SELECT id, name, achievements FROM repeated");
    const long = listLongUsers(db, rows.totals.mostUnlocks, repeated.iterate());
    for (const { id } of long) trim.run(id);

    const invalid = $client.prepare<{ id: number }>(`SELECT id FROM user
      WHERE id IN (SELECT id FROM repeated) AND id IN (SELECT id FROM trimmed)`);
    for (const { id } of invalid.all()) {
      rows.hide(id);
      const reason = "one of several records is invalid; the user becomes private";
      report({ field: "id", reason, type: "user", id }, "made private");
    }
  }

  /** Removes from the users who have lost something all references to records that do not exist. */
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

  function finish(report: ReportError): void {
    rows.finish((error) => {
      if (error.type === "user") trim.run(Number(error.id));
      report(error);
    });
    shortenAchievements();
    hideRepeated(report);
    removeReferences();
    $client.exec("DROP TABLE trimmed; DROP TABLE repeated");
  }

  return { ...rows, skip, finish };
}
