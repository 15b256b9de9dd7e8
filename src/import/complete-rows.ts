/**
 * Completes the rows of users after the last record, because records may come in any order: copies the names
 * of companies, and finds references to records that do not exist, and achievements that would take too much
 * of a response.
 */
import { type SQL, sql } from "drizzle-orm";
import { MAX_ACHIEVEMENTS_BYTES } from "../domain/model.ts";
import type { MissingRecord, Problem, RecordId, ReportProblem } from "../domain/records.ts";
import { mustExist } from "../domain/validation-errors.ts";
import { achievement, encodeUnlocks, type Unlock, user } from "../snapshot/format/schema.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";

/** A record that a change file deletes, and on which line. */
export interface Deletion extends RecordId {
  line?: number | undefined;
}

export interface CompletionOptions {
  /** The ids of the companies that a change file changes. */
  companies?: readonly number[];
  /** The records that a change file deletes, and to which users may still refer. */
  deletions?: readonly Deletion[];
  /** Whether to remove what is wrong from the users, besides reporting it. */
  trims?: boolean;
}

const PENDING_USERS = "pending JOIN user USING (id)";

/** Collects the users who refer to something that has not been read yet, and completes their rows. */
export function createCompletion(db: Database, ids: Ids) {
  const { $client } = db;
  // These may be all users, so an import has them on disk, unlike a TEMP table (see temp_store in
  // target.ts).
  $client.exec("CREATE TABLE pending (id INTEGER PRIMARY KEY, line INTEGER)");
  const insert = $client.prepare("INSERT INTO pending VALUES (?, ?)");
  const shorten = $client.prepare("UPDATE user SET achievements = ? WHERE id = ?");

  return {
    add: (id: number, line: number | undefined) => insert.run(id, line ?? null),

    /** Also finds users whose achievements are too long. None has more than `maxUnlocks`. */
    complete(
      report: ReportProblem,
      maxUnlocks: number,
      { companies = [], deletions = [], trims = false }: CompletionOptions = {},
    ): void {
      // The name of a company that does not exist is null.
      nameCompanies(db, sql`id IN (SELECT id FROM pending)`);
      if (companies.length > 0) {
        const changed = sql`SELECT value FROM json_each(${JSON.stringify(companies)})`;
        nameCompanies(db, sql`company_id IN (${changed})`);
      }
      const hasMissing = reportMissing(db, deletions, ids, report);
      if (trims && hasMissing) removeMissing(db);
      // What has been removed takes no space.
      for (const long of listLongUsers(db, maxUnlocks)) {
        reportLong(long, report);
        if (trims) shorten.run(JSON.stringify(long.fitting), long.id);
      }
      $client.exec("DROP TABLE pending");
    },
  };
}

/** Copies the companies' names into the rows of the users that match `which`. */
function nameCompanies(db: Database, which: SQL): void {
  const name = sql`SELECT name FROM company WHERE company.id = user.company_id`;
  db.run(sql`UPDATE user SET company_name = (${name}) WHERE ${which}`);
}

/**
 * Reports each reference to a record that does not exist: at the line that deletes the record, or
 * otherwise at that of the user. A user who has become private since has no references. Returns whether
 * there are any.
 */
function reportMissing(
  { $client }: Database,
  deletions: readonly Deletion[],
  ids: Ids,
  report: ReportProblem,
): boolean {
  // Any user may refer to a deleted record, so this reads all of them.
  const users = deletions.length > 0 ? "user" : PENDING_USERS;
  let hasMissing = false;
  // If, in the example of missingOf, user 9 is pending on line 4, and line 2 deletes role 5, this selects
  // (roles, role, 5, 9, 2, 1) and (achievements, achievement, 2, 9, 4, 0). MATERIALIZED has SQLite
  // look deletions up in an index.
  const references = $client.prepare<Reference>(
    `WITH deletion AS MATERIALIZED (SELECT
        value ->> 'type' AS type, value ->> 'id' AS id, value ->> 'line' AS line
        FROM json_each(?))
      SELECT field, type, missing.id, user, coalesce(deletion.line, pending.line) AS line,
        deletion.id IS NOT NULL AS isDeleted
      FROM (${missingOf(users)}) AS missing
      LEFT JOIN deletion USING (type, id) LEFT JOIN pending ON pending.id = user
      ORDER BY line, user, rank`,
  );
  const found = references.iterate(JSON.stringify(deletions));
  for (const { field, user, line, isDeleted, ...record } of found) {
    hasMissing = true;
    const missing = { type: record.type, id: ids.inSource(record) };
    const problem = isDeleted
      ? stillReferenced(missing)
      : mustExist(field, missing.type, missing.id);
    report(problem, { type: "user", id: user, line: line ?? undefined });
  }
  return hasMissing;
}

function stillReferenced(missing: MissingRecord): Problem {
  const group = "is still referenced";
  return { field: "id", reason: `${missing.type} ${missing.id} ${group}`, group, missing };
}

/** A reference to a record that does not exist. */
interface Reference extends RecordId {
  field: string;
  user: number;
  /** The line that deletes the record or, if none does, that of the user. */
  line: number | null;
  isDeleted: number;
}

/**
 * Selects the references to records that do not exist, of all rows of `user` or of a join with it.
 * For example, if there is role 1 but no role 5 and no company:
 *
 * | id | company_id | roles | achievements | becomes (rank, field, type, id, user) |
 * |---|---|---|---|---|
 * | 7 | null | [1] | [] | nothing |
 * | 8 | 3 | [1] | [] | (1, company.id, company, 3, 8) |
 * | 9 | null | [1,5] | [[2,1,1700000000]] | (2, roles, role, 5, 9), (3, achievements, achievement, 2, 9) |
 */
function missingOf(users: string): string {
  return `SELECT 1 AS rank, 'company.id' AS field, 'company' AS type, company_id AS id,
      user.id AS user FROM ${users}
      WHERE company_id IS NOT NULL AND company_id NOT IN (SELECT id FROM company)
    UNION ALL SELECT 2, 'roles', 'role', value, user.id FROM ${users}, json_each(roles)
      WHERE value NOT IN (SELECT id FROM role)
    UNION ALL SELECT 3, 'achievements', 'achievement', value ->> 0, user.id
      FROM ${users}, json_each(achievements)
      WHERE value ->> 0 NOT IN (SELECT id FROM achievement)`;
}

/**
 * Removes from users all references to records that do not exist. For example, if there are role 1 and
 * achievement 2 but no company:
 *
 * | | company_id | roles | achievements |
 * |---|---|---|---|
 * | before | 3 | [1,5] | [[4,1,1700000000],[2,1,1600000000]] |
 * | after | null | [1] | [[2,1,1600000000]] |
 */
function removeMissing({ $client }: Database): void {
  $client.exec(`UPDATE user SET
    (company_id, company_role) =
      (SELECT company_id, company_role WHERE company_id IN (SELECT id FROM company)),
    roles = (SELECT json_group_array(value ORDER BY key) FROM json_each(roles)
      WHERE value IN (SELECT id FROM role)),
    achievements = (SELECT json_group_array(json(value) ORDER BY key)
      FROM json_each(achievements) WHERE value ->> 0 IN (SELECT id FROM achievement))
    WHERE id IN (SELECT user FROM (${missingOf(PENDING_USERS)}))`);
}

/** A user whose achievements take too many bytes in a response. */
interface LongUser {
  id: number;
  name: string;
  bytes: number;
  /** The newest of them that fit. */
  fitting: Unlock[];
}

function reportLong({ id, name, bytes }: LongUser, report: ReportProblem): void {
  const group = `must take at most ${MAX_ACHIEVEMENTS_BYTES / 1024} KB in a response`;
  const reason = `${group}, got ${Math.ceil(bytes / 1024)} KB for ${JSON.stringify(name)}`;
  report({ field: "achievements", reason, group }, { type: "user", id });
}

/** More bytes than an entry adds to the JSON of its definition. */
const ENTRY_BYTES = 100;

/**
 * Yields each user whose achievements are too long for a response. Reads no users if `maxUnlocks`
 * achievements would fit even if all definitions were as long as the longest.
 */
function* listLongUsers(db: Database, maxUnlocks: number): Generator<LongUser> {
  const rows = db.select().from(achievement).all();
  const definitions = new Map(rows.map((row) => [row.id, JSON.stringify(row)]));
  const sizes = definitions.values().map((json) => Buffer.byteLength(json));
  const longest = sizes.reduce((max, size) => Math.max(max, size), 0);
  if (maxUnlocks * (longest + ENTRY_BYTES) <= MAX_ACHIEVEMENTS_BYTES) return;

  const users = db
    .select({ id: user.id, name: user.name, achievements: user.achievements })
    .from(user);
  for (const { id, name, achievements } of prepareText(db, users).iterate()) {
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
