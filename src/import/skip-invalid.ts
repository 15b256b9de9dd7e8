/**
 * Handles the records of an import with `--skip-invalid`. ../domain/README.md says what becomes of those
 * that are invalid. If two have the id of a user, nobody knows which is right, so the user becomes private.
 */
import type { DatasetLine } from "../domain/dataset.ts";
import type { RecordId, ReportFinding } from "../domain/records.ts";
import { InvalidRecord, salvageUser, validateRecord } from "../domain/validate-record.ts";
import type { Database } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import { createRows, type Skipped } from "./write-rows.ts";

export function createSkippingHandler(db: Database, ids: Ids) {
  const rows = createRows(db, ids);

  function skip(
    { type, id }: RecordId,
    invalid: DatasetLine | InvalidRecord,
    line: number | undefined,
  ): Skipped {
    if (type !== "user") return { consequence: "" };

    const rest = invalid instanceof InvalidRecord && salvageUser(invalid);
    const isKept = rest && rows.add(rest, line).length === 0;
    if (isKept) return { consequence: "; the rest of the user is kept", isKept };
    return { consequence: "; the user becomes private", madePrivate: rows.hide(id) };
  }

  const complete = (report: ReportFinding) => rows.complete(report, { trims: true });
  return { validate: validateRecord, add: rows.add, skip, complete };
}
