/**
 * The references of users to companies, roles and achievements. Only after the last record, it is known
 * whether these records exist, and whether a user's achievements would take too much of a response.
 */
import { type SQL, sql } from "drizzle-orm";
import { MAX_ACHIEVEMENTS_BYTES } from "../domain/model.ts";
import type { Finding, MissingRecord, RecordId, ReportFinding } from "../domain/records.ts";
import { mustExist } from "../domain/validation-errors.ts";
import { achievement, user } from "../snapshot/format/schema.ts";
import { encodeUnlocks, type Unlock } from "../snapshot/format/unlocks.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";

/** Copies the companies' names into the rows of the users that match `which`. */
export function nameCompanies(db: Database, which: SQL): void {
  const name = sql`SELECT name FROM company WHERE company.id = user.company_id`;
  db.run(sql`UPDATE user SET company_name = (${name}) WHERE ${which}`);
}

/** A record that a change file deletes, and on which line. */
export interface Deletion extends RecordId {
  line?: number | undefined;
}

/**
 * Reports each reference to a record that does not exist: at the line that deletes the record, or
 * otherwise at that of the user, who is in the table `pending` (write-rows.ts). A user who has become
 * private since has no references.
 */
export function judgeReferences(
  { $client }: Database,
  deletions: readonly Deletion[],
  ids: Ids,
  report: ReportFinding,
): void {
  // Any user may refer to a deleted record, so this reads all of them.
  const users = deletions.length > 0 ? "user" : "pending JOIN user USING (id)";
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
    const missing = { type: record.type, id: ids.inSource(record) };
    const finding = isDeleted
      ? stillReferenced(missing)
      : mustExist(field, missing.type, missing.id);
    report(finding, { type: "user", id: user, line: line ?? undefined });
  }
}

function stillReferenced(missing: MissingRecord): Finding {
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

export function reportLongUsers(db: Database, maxUnlocks: number, report: ReportFinding): void {
  for (const { id, name, bytes } of listLongUsers(db, maxUnlocks)) {
    const group = `must take at most ${MAX_ACHIEVEMENTS_BYTES / 1024} KB in a response`;
    const reason = `${group}, got ${Math.ceil(bytes / 1024)} KB for ${JSON.stringify(name)}`;
    report({ field: "achievements", reason, group }, { type: "user", id });
  }
}

/** More bytes than an entry adds to the JSON of its definition. */
const ENTRY_BYTES = 100;

/**
 * Yields each user whose achievements are too long for a response, with the newest of them that fit.
 * Reads no users if `maxUnlocks` achievements would fit even if all definitions were as long as the
 * longest.
 */
export function* listLongUsers(db: Database, maxUnlocks: number) {
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
