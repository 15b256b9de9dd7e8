/**
 * Handles the records of an import with `--skip-invalid`. ../domain/README.md says what becomes of those
 * that are invalid. If two have the id of a user, nobody knows which is right, so the user becomes private.
 *
 * After the last record, users lose references to records that do not exist, and achievements that are
 * too many for a response. A table `trimmed` has the ids of these users meanwhile.
 */
import type { DatasetLine } from "../domain/dataset.ts";
import type { RecordId, ReportFinding } from "../domain/records.ts";
import { InvalidRecord, salvageUser, validateRecord } from "../domain/validate-record.ts";
import type { Database } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import { listLongUsers } from "./references.ts";
import { createRows, type Skipped } from "./write-rows.ts";

export function createSkippingHandler(db: Database, ids: Ids) {
  const rows = createRows(db, ids);
  const { $client } = db;

  function skip(
    { type, id }: RecordId,
    invalid: DatasetLine | InvalidRecord,
    line: number | undefined,
  ): Skipped {
    if (type !== "user") return { consequence: "" };

    const rest = invalid instanceof InvalidRecord && salvageUser(invalid);
    const isKept = rest && rows.add(rest, line).length === 0;
    if (isKept) return { consequence: "; the rest of the user is kept" };
    return { consequence: "; the user becomes private", madePrivate: rows.hide(id) };
  }

  /** Shortens lists of achievements that are too long for a response to the newest ones that fit. */
  function shortenAchievements(): void {
    const shorten = $client.prepare("UPDATE user SET achievements = ? WHERE id = ?");
    for (const { id, fitting } of listLongUsers(db, rows.totals.maxUnlocks)) {
      shorten.run(JSON.stringify(fitting), id);
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

  function complete(report: ReportFinding): void {
    // A bad dataset may trim millions of users, so this is no TEMP table, which is in memory.
    $client.exec("CREATE TABLE trimmed (id INTEGER PRIMARY KEY)");
    const trim = $client.prepare("INSERT OR IGNORE INTO trimmed VALUES (?)");
    rows.complete((finding, record) => {
      if (record?.type === "user") trim.run(Number(record.id));
      report(finding, record);
    });
    shortenAchievements();
    removeReferences();
    $client.exec("DROP TABLE trimmed");
  }

  return { validate: validateRecord, add: rows.add, skip, complete };
}
