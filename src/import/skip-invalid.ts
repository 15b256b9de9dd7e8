/**
 * Writes each record of a dataset as a row and skips whatever is invalid. The section `--skip-invalid`
 * of src/domain/README.md says what is left of a record.
 */
import { type DatasetLine, isPublicUser, type RecordKey } from "../domain/dataset.ts";
import type { Position } from "../domain/record-reader.ts";
import { InvalidRecord, salvageUser } from "../domain/validate-record.ts";
import type { Database, Sqlite } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import type { UserUnlocks } from "./long-users.ts";
import type { Report, Skipped } from "./read-dataset.ts";
import { listUnlocks, RowWriter } from "./row-writer.ts";

export class SkippingWriter extends RowWriter {
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(db: Database, ids: Ids) {
    super(db, ids);
    // On disk, unlike TEMP tables, because a bad dataset may trim millions of users. `achievements`
    // are those that are left if all would be too long, and `repeated` has the other records of users
    // with several valid public ones, of which the first counts.
    db.$client.exec(`CREATE TABLE trimmed (id INTEGER PRIMARY KEY, achievements TEXT);
      CREATE TABLE repeated (id INTEGER, name TEXT, achievements TEXT)`);
    this.#statements = prepareStatements(db.$client);
  }

  skip({ type, id }: RecordKey, invalid: DatasetLine | InvalidRecord, at: Position): Skipped {
    if (type !== "user") return "left out";

    const { trim, repeat, findImpaired } = this.#statements;
    const rest = invalid instanceof InvalidRecord && salvageUser(invalid);
    if (rest && this.add(rest, at).length === 0) {
      trim.run(id);
      return "trimmed";
    }

    const isPublic = !(invalid instanceof InvalidRecord) && isPublicUser(invalid);
    if (isPublic && !findImpaired.get(id)) {
      repeat.run(id, invalid.name, JSON.stringify(listUnlocks(invalid)));
      this.noteUser(invalid, at);
      return "left out";
    }

    return this.hide(id) ? "made private" : "private already";
  }

  override finish(report: Report): void {
    super.finish((error) => {
      if (error.missing) this.#statements.trim.run(Number(error.id));
      report(error);
    });
    this.#shortenAchievements();
    this.#hideRepeated(report);
    this.#removeReferences();
    this.db.$client.exec("DROP TABLE trimmed; DROP TABLE repeated");
  }

  /** Keeps of the achievements of a user those that fit into a response. */
  #shortenAchievements(): void {
    // In two steps, because users must not change while they are read.
    for (const { id, fitting } of this.longUsers.list()) {
      this.#statements.shorten.run(id, JSON.stringify(fitting));
    }
    this.db.$client.exec(`UPDATE user SET achievements = trimmed.achievements FROM trimmed
      WHERE user.id = trimmed.id AND trimmed.achievements IS NOT NULL`);
  }

  /** Makes users private who have lost something, if they have several records. */
  #hideRepeated(report: Report): void {
    const { listOthers, trim, listRepeated } = this.#statements;
    for (const { id } of this.longUsers.list(listOthers.iterate())) trim.run(id);
    for (const { id } of listRepeated.all()) {
      this.hide(id);
      const reason = "one of several records is invalid; the user becomes private";
      report({ field: "id", reason, type: "user", id }, "made private");
    }
  }

  /** Removes from the users who have lost something all references to records that do not exist. */
  #removeReferences(): void {
    // The name of a missing company is already null, because there was none to copy.
    this.db.$client.exec(`
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
}

function prepareStatements(db: Sqlite) {
  return {
    trim: db.prepare("INSERT INTO trimmed (id) VALUES (?) ON CONFLICT DO NOTHING"),
    shorten: db.prepare(`INSERT INTO trimmed VALUES (?, ?)
      ON CONFLICT (id) DO UPDATE SET achievements = excluded.achievements`),
    repeat: db.prepare("INSERT INTO repeated VALUES (?, ?, ?)"),
    /** Finds a user who has lost something or is private. */
    findImpaired: db.prepare(`SELECT 1 FROM
      (SELECT id FROM trimmed UNION ALL SELECT id FROM private_user) WHERE id = ?`),
    listOthers: db.prepare<UserUnlocks>("SELECT * FROM repeated"),
    listRepeated: db.prepare<{ id: number }>(`SELECT id FROM user
      WHERE id IN (SELECT id FROM repeated) AND id IN (SELECT id FROM trimmed)`),
  };
}
