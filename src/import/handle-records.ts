/**
 * Handles the records of a dataset: writes each as a row and, after the last one, because they may come
 * in any order, finds the users who refer to a record that does not exist, or whose achievements would
 * take too much of a response.
 */
import { type SQL, sql } from "drizzle-orm";
import {
  type DatasetLine,
  isPublicUser,
  type Position,
  type RecordKey,
} from "../domain/dataset.ts";
import { MAX_ACHIEVEMENTS_BYTES } from "../domain/model.ts";
import { InvalidRecord, salvageUser, validateRecord } from "../domain/validate-record.ts";
import { mustExist } from "../domain/validation-errors.ts";
import { encodeUnlocks } from "../snapshot/format/records.ts";
import { achievement, type Unlock, user } from "../snapshot/format/schema.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import type { ReportError } from "./read-dataset.ts";
import {
  createRowWriter,
  type Deletion,
  type MostUnlocks,
  prepareInsert,
  type RowWriter,
} from "./row-writer.ts";

/** Every error is final. */
export function createStrictHandler(db: Database, ids: Ids) {
  const rows = createRowWriter(db, ids);
  const finish = (report: ReportError) => finishRows(db, rows, ids, report);
  return { validate: validateRecord, add: rows.add, finish };
}

/**
 * Skips whatever is invalid. The section `--skip-invalid` of src/domain/README.md says what is left of
 * a record.
 */
export function createSkippingHandler(db: Database, ids: Ids) {
  const rows = createRowWriter(db, ids);
  const { $client } = db;
  // `trimmed` has the users who have lost part of their record, and `repeated` the other records of
  // users with several valid public ones, of which the first counts. Both are on disk, unlike TEMP
  // tables, because a bad dataset may trim millions of users.
  $client.exec(`CREATE TABLE trimmed (id INTEGER PRIMARY KEY);
    CREATE TABLE repeated AS SELECT * FROM user WHERE FALSE`);
  const trim = $client.prepare("INSERT INTO trimmed VALUES (?) ON CONFLICT DO NOTHING");
  const repeat = prepareInsert(db, user, { into: "repeated", taken: "private_user" });

  function hide(id: number): void {
    if (rows.hide(id)) handler.madePrivate++;
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
    if (isPublic && repeat(rows.toRow(invalid))) return "";
    hide(id);
    return "; the user becomes private";
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
      hide(id);
      const reason = "one of several records is invalid; the user becomes private";
      report({ field: "id", reason, type: "user", id });
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
    finishRows(db, rows, ids, (error) => {
      if (error.type === "user") trim.run(Number(error.id));
      report(error);
    });
    shortenAchievements();
    hideRepeated(report);
    removeReferences();
    $client.exec("DROP TABLE trimmed; DROP TABLE repeated");
  }

  const handler = { validate: validateRecord, add: rows.add, skip, finish, madePrivate: 0 };
  return handler;
}

/** Completes the rows, and reports the errors that can be detected only after the last record. */
export function finishRows(db: Database, rows: RowWriter, ids: Ids, report: ReportError): void {
  nameCompanies(db, sql`id IN (SELECT id FROM pending)`);
  reportMissing(db, rows.deletions, ids, report);
  reportLongUsers(db, rows.totals.mostUnlocks, report);
}

/** Copies the companies' names into the rows of the users that match `which`. */
export function nameCompanies(db: Database, which: SQL): void {
  const name = sql`SELECT name FROM company WHERE company.id = user.company_id`;
  db.run(sql`UPDATE user SET company_name = (${name}) WHERE ${which}`);
}

/** A reference to a record that does not exist. */
interface Reference extends RecordKey {
  field: string;
  user: number;
  /** Where the user stands, if the user has just been read. */
  at: Position | null;
  /** Where the record is deleted, if a change deletes it. */
  deletedAt: Position | null;
}

/**
 * Reports references to records that do not exist. Leaves out users who have become private since.
 * Reads all users only if something was deleted.
 */
function reportMissing(
  { $client }: Database,
  deletions: readonly Deletion[],
  ids: Ids,
  report: ReportError,
): void {
  const users = deletions.length > 0 ? "user" : "pending JOIN user USING (id)";
  // MATERIALIZED has SQLite look each reference up in an index of the deletions.
  const missing = $client.prepare<Reference>(
    `WITH deletion AS MATERIALIZED (SELECT
        value ->> 'type' AS type, value ->> 'id' AS id, value ->> 'at' AS deletedAt
        FROM json_each(?))
      SELECT pending.at, deletedAt, field, type, reference.id, user
      FROM (${referencesOf(users)}) AS reference
      LEFT JOIN pending ON pending.id = user
      LEFT JOIN deletion USING (type, id)
      WHERE ${refersToNothing("reference")} ORDER BY deletedAt, pending.at, rank, user`,
  );
  for (const { at, deletedAt, field, user, ...missed } of missing.iterate(
    JSON.stringify(deletions),
  )) {
    const found = { type: "user", id: user, missing: missed } as const;
    const id = ids.inSource(missed);
    const kind = "is still referenced";
    const reason = `${missed.type} ${id} ${kind}`;
    if (deletedAt !== null) report({ at: deletedAt, field: "id", reason, kind, ...found });
    if (at !== null) report({ at, ...mustExist(field, missed.type, id), ...found });
  }
  $client.exec("DROP TABLE pending");
}

/** Selects all references of `users`, which are rows of `user` or of a table called so. */
function referencesOf(users: string): string {
  return `SELECT 1 AS rank, 'company.id' AS field, 'company' AS type, company_id AS id,
      user.id AS user FROM ${users} WHERE company_id IS NOT NULL
    UNION ALL SELECT 2, 'roles', 'role', value, user.id FROM ${users}, json_each(roles)
    UNION ALL SELECT 3, 'achievements', 'achievement', value ->> 0, user.id
      FROM ${users}, json_each(achievements)`;
}

/** The condition for a selected reference to be to nothing. */
function refersToNothing(reference: string): string {
  return `NOT CASE ${reference}.type
    WHEN 'role' THEN ${reference}.id IN (SELECT id FROM role)
    WHEN 'company' THEN ${reference}.id IN (SELECT id FROM company)
    ELSE ${reference}.id IN (SELECT id FROM achievement) END`;
}

/** More bytes than an entry adds to the JSON of its definition. */
const ENTRY_BYTES = 100;

type UserUnlocks = Pick<typeof user.$inferSelect, "id" | "name" | "achievements">;

function reportLongUsers(db: Database, most: MostUnlocks, report: ReportError): void {
  for (const { id, name, bytes } of listLongUsers(db, most)) {
    const kind = `must take at most ${MAX_ACHIEVEMENTS_BYTES / 1024} KB in a response`;
    const reason = `${kind}, got ${Math.ceil(bytes / 1024)} KB for ${JSON.stringify(name)}`;
    report({ field: "achievements", reason, kind, type: "user", id });
  }
}

/**
 * Lists those of `users`, or of all, with the newest achievements that fit. Reads nobody if `most`
 * achievements would fit even if all definitions were as long as the longest.
 */
function* listLongUsers(
  db: Database,
  most: MostUnlocks,
  users: Iterable<UserUnlocks> = listUsers(db),
) {
  const rows = db.select().from(achievement).all();
  const definitions = new Map(rows.map((row) => [row.id, JSON.stringify(row)]));
  const sizes = definitions.values().map((json) => Buffer.byteLength(json));
  const longest = sizes.reduce((max, size) => Math.max(max, size), 0);
  if (most !== "unknown" && most * (longest + ENTRY_BYTES) <= MAX_ACHIEVEMENTS_BYTES) return;

  for (const { id, name, achievements } of users) {
    const unlocks: Unlock[] = JSON.parse(achievements);
    let bytes = 1;
    const fitting = unlocks.filter((unlock) => {
      // In a longer list, a comma takes the place of one of the two brackets.
      const entry = encodeUnlocks([unlock], (id) => definitions.get(id) ?? "");
      bytes += Buffer.byteLength(entry) - 1;
      return bytes <= MAX_ACHIEVEMENTS_BYTES;
    });
    if (fitting.length < unlocks.length) yield { id, name, bytes, fitting };
  }
}

function* listUsers(db: Database): Generator<UserUnlocks> {
  const { id, name, achievements } = user;
  yield* prepareText(db, db.select({ id, name, achievements }).from(user)).iterate();
}
