/**
 * Writes each line of a dataset as a row and skips whatever is invalid. A user whose only errors
 * are in optional fields keeps the profile without them. Every other user with an invalid line
 * becomes private, and so does a user with several lines of which one is private. Any other record
 * is left out. References to missing records are dropped.
 */
import {
  type DatasetLine,
  InvalidLine,
  type RecordKey,
  salvageUser,
} from "../../domain/dataset.ts";
import type { Database } from "../../sqlite/driver.ts";
import type { IdMap } from "../../tables/id-map.ts";
import type { LineError } from "./line-errors.ts";
import { type Consequence, consequences } from "./read-dataset.ts";
import { listLongUsers, RowWriter } from "./rows.ts";

export class SkippingWriter extends RowWriter {
  private readonly faulty: ReturnType<typeof prepareFaulty>;

  constructor(db: Database, idMap?: IdMap) {
    super(db, idMap);
    this.faulty = prepareFaulty(db);
  }

  skip({ type, id }: RecordKey, invalid: DatasetLine | InvalidLine, number: number): Consequence {
    if (type !== "user") return consequences.leftOut;
    if (invalid instanceof InvalidLine) {
      const rest = salvageUser(invalid);
      if (rest && this.add(rest, number).length === 0) {
        this.faulty.add.run(id);
        return consequences.trimmed;
      }
    } else if ("public" in invalid && invalid.public) {
      // A second line, which matters only if there is something wrong with the first.
      const { changes } = this.faulty.hideAgain.run(id);
      return changes > 0 ? consequences.hidden : consequences.leftOut;
    }
    this.faulty.hide.run(id);
    return consequences.hidden;
  }

  override *finish(): Generator<LineError> {
    const { $client } = this.db;
    for (const error of super.finish()) {
      if (error.missing && error.id !== undefined) this.faulty.add.run(error.id);
      yield error;
    }
    const trim = $client.prepare("UPDATE user SET achievements = ? WHERE id = ?");
    for (const { id, fitting } of listLongUsers(this.db, this.longestList)) {
      trim.run(JSON.stringify(fitting), id);
    }
    const hide = $client.prepare(
      "INSERT OR IGNORE INTO private_user SELECT id FROM faulty WHERE is_hidden",
    );
    this.hidden = Number(hide.run().changes);
    // The name of a missing company is already null, because there was none to copy.
    $client.exec(`
      DELETE FROM user WHERE id IN (SELECT id FROM faulty WHERE is_hidden);
      UPDATE user SET
        (company_id, company_role) =
          (SELECT company_id, company_role WHERE company_id IN (SELECT id FROM company)),
        roles = (SELECT json_group_array(value ORDER BY key) FROM json_each(roles)
          WHERE value IN (SELECT id FROM role)),
        achievements = (SELECT json_group_array(json(value) ORDER BY key)
          FROM json_each(achievements) WHERE value ->> 0 IN (SELECT id FROM achievement))
        WHERE id IN (SELECT id FROM faulty);
      DROP TABLE faulty;
    `);
  }
}

/** Creates the table of users with errors, and its statements. */
function prepareFaulty({ $client }: Database) {
  // On disk, unlike a TEMP table, because a bad dataset may hide millions of users.
  $client.exec("CREATE TABLE faulty (id INTEGER PRIMARY KEY, is_hidden INTEGER NOT NULL)");
  return {
    add: $client.prepare("INSERT OR IGNORE INTO faulty VALUES (?, 0)"),
    hide: $client.prepare("INSERT OR REPLACE INTO faulty VALUES (?, 1)"),
    hideAgain: $client.prepare("UPDATE faulty SET is_hidden = 1 WHERE id = ?"),
  };
}
