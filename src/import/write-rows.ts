/**
 * Writes the records of a dataset or a change file as rows. A duplicate id is an error immediately.
 * Records may come in any order, so the rows are completed after the last record. Only then, users are
 * found who refer to a record that does not exist, or whose achievements would take too much of a
 * response.
 */
import { eq, getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { DatasetLine } from "../domain/dataset.ts";
import { MAX_ACHIEVEMENTS_BYTES, type PublicUserLine } from "../domain/model.ts";
import type {
  FoundError,
  Position,
  RawRecord,
  RecordKey,
  ReportError,
} from "../domain/raw-records.ts";
import { groupDigits } from "../domain/text.ts";
import { parseTime } from "../domain/time.ts";
import { type InvalidRecord, validateRecord } from "../domain/validate-record.ts";
import { mustExist } from "../domain/validation-errors.ts";
import { spell } from "../search/fold.ts";
import { countOf } from "../snapshot/format/meta.ts";
import { encodeUnlocks } from "../snapshot/format/records.ts";
import {
  achievement,
  company,
  privateUser,
  role,
  type Unlock,
  user,
} from "../snapshot/format/schema.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";

/** Definitions are limited because a server may hold all of them in memory. */
const limits = {
  role: { table: role, max: 10_000, name: "roles" },
  achievement: { table: achievement, max: 100_000, name: "achievement definitions" },
};

const id = sql.placeholder("id");

/** Validates the records of a dataset or a change file and applies them to a database. */
export interface RecordHandler<Parsed> {
  validate(record: RawRecord): Parsed | InvalidRecord;
  /** Applies a record, or returns the errors in it. `first` is the line of one with the same id. */
  add(record: Parsed, at: Position, first?: number): FoundError[];
  /**
   * Leaves out the invalid part of a record that is invalid or was refused by `add`. Returns how a
   * message about it ends. Without this method, every error is final.
   */
  skip?(record: RecordKey, invalid: Parsed | InvalidRecord, at: Position): string;
  /**
   * Completes the rows, and reports the errors that can be detected only after the last record. Returns
   * how many users have become private because a record about them is invalid.
   */
  complete(report: ReportError): number;
}

/** Handles the records of a dataset, and has what other handlers need. */
export function createRows(db: Database, ids: Ids) {
  const inserts = prepareInserts(db);
  const removals = prepareDeletions(db);
  // The users who refer to something that has not been read yet. These may be all users, so an import
  // has them on disk, unlike a TEMP table (see temp_store in target.ts).
  db.$client.exec("CREATE TABLE pending (id INTEGER PRIMARY KEY, at INTEGER)");
  const addPending = db.$client.prepare("INSERT INTO pending VALUES (?, ?)");
  /** The ids of the roles and achievements read so far. */
  const known = { role: new Set<number>(), achievement: new Set<number>() };
  const totals = {
    /** How many achievements the added users have unlocked, without those of removed users. */
    unlocked: 0,
    /** How many a user has at most. Infinite if earlier users may have become too long. */
    maxUnlocks: 0,
  };

  function add(record: DatasetLine, at: Position, first?: number): FoundError[] {
    const { type, id } = record;
    if (type === "role" || type === "achievement") {
      if (known[type].size >= limits[type].max && !known[type].has(id)) return [tooMany(type)];
      known[type].add(id);
    }
    return insert(record, at) ? [] : [duplicateId(record, ids, first)];
  }

  /** Writes the row for a record. Returns false if its id is already taken. */
  function insert(record: DatasetLine, at: Position): boolean {
    switch (record.type) {
      case "role":
        return inserts.role(record);
      case "achievement":
        return inserts.achievement({ ...record, type: record.kind });
      case "company":
        return inserts.company({ ...record, folded: spell(record.name) });
      case "user":
        return record.public ? insertPublic(record, at) : inserts.privateUser(record);
    }
  }

  function insertPublic(record: PublicUserLine, at: Position): boolean {
    const { id, company, roles = [], achievements = [] } = record;
    // Undefined if the company has not been read yet.
    const companyName = company && inserts.findCompany.get(company.id)?.name;
    if (!inserts.user(toUserRow(record, companyName))) return false;

    totals.unlocked += achievements.length;
    totals.maxUnlocks = Math.max(totals.maxUnlocks, achievements.length);
    const isComplete =
      (!company || companyName !== undefined) &&
      roles.every((role) => known.role.has(role)) &&
      achievements.every((unlock) => known.achievement.has(unlock.id));
    if (!isComplete) addPending.run(id, at);
    return true;
  }

  /** Returns whether there was such a record. */
  function remove({ type, id }: RecordKey): boolean {
    if (type === "achievement") totals.maxUnlocks = Number.POSITIVE_INFINITY;
    if (type !== "user") return removals[type].all({ id }).length > 0;
    return removePublic(id) || removals.privateUser.all({ id }).length > 0;
  }

  function removePublic(id: number): boolean {
    const [removed] = removals.publicUser.all({ id });
    if (removed) totals.unlocked -= removed.unlocked;
    return removed !== undefined;
  }

  /** Makes a user private. Returns false if the user was private already. */
  function hide(id: number): boolean {
    removePublic(id);
    return inserts.privateUser({ id });
  }

  function complete(report: ReportError): number {
    nameCompanies(db, sql`id IN (SELECT id FROM pending)`);
    judgePending(db, ids, report);
    db.$client.exec("DROP TABLE pending");
    reportLongUsers(db, totals.maxUnlocks, report);
    for (const error of listTooMany(db)) report(error);
    return 0;
  }

  return { validate: validateRecord, totals, add, remove, hide, complete };
}

function toUserRow(
  { id, name, avatar_url, created_at, company, roles = [], achievements = [] }: PublicUserLine,
  companyName?: string | null,
): typeof user.$inferSelect {
  const unlocks = achievements
    .map(({ id, tier, unlocked_at }): Unlock => [id, tier, parseTime(unlocked_at) ?? 0])
    .sort(([a, , aTime], [b, , bTime]) => bTime - aTime || a - b);

  return {
    id,
    name,
    folded: spell(name),
    avatar_url: avatar_url ?? null,
    company_id: company?.id ?? null,
    company_name: companyName ?? null,
    company_role: company?.role ?? null,
    roles: JSON.stringify(roles.toSorted((a, b) => a - b)),
    created_at: parseTime(created_at) ?? 0,
    achievements: JSON.stringify(unlocks),
  };
}

function prepareInserts(db: Database) {
  const companies = db.select({ name: company.name }).from(company).where(eq(company.id, id));
  return {
    role: prepareInsert(db, role),
    achievement: prepareInsert(db, achievement),
    company: prepareInsert(db, company),
    user: prepareInsert(db, user, "private_user"),
    privateUser: prepareInsert(db, privateUser, "user"),
    findCompany: prepareText(db, companies),
  };
}

/**
 * Returns a function that adds a row to `table` unless its id is taken there or in the table `taken`.
 * It returns whether the row was added. drizzle would make an import slower.
 */
function prepareInsert<Table extends SQLiteTable>(
  { $client }: Database,
  table: Table,
  taken: string = getTableName(table),
) {
  const columns = Object.keys(getTableColumns(table));
  const statement = $client.prepare(`INSERT INTO ${getTableName(table)} (${columns})
    SELECT ${columns.map(() => "?")} WHERE NOT EXISTS (SELECT 1 FROM ${taken} WHERE id = ?)
    ON CONFLICT DO NOTHING`);
  return (row: Table["$inferSelect"]): boolean => {
    const values = columns.map((name) => row[name] as string | number | null);
    return statement.run(...values, row.id as number).changes > 0;
  };
}

function prepareDeletions(db: Database) {
  const unlocked = sql<number>`json_array_length(${user.achievements})`;
  return {
    role: db.delete(role).where(eq(role.id, id)).returning().prepare(),
    achievement: db.delete(achievement).where(eq(achievement.id, id)).returning().prepare(),
    company: db.delete(company).where(eq(company.id, id)).returning().prepare(),
    publicUser: db.delete(user).where(eq(user.id, id)).returning({ unlocked }).prepare(),
    privateUser: db.delete(privateUser).where(eq(privateUser.id, id)).returning().prepare(),
  };
}

/** The error for a record whose id another record of its type has, on the line `first` if given. */
export function duplicateId(record: RecordKey, ids: Ids, first?: number): FoundError {
  const reason = `duplicate ${record.type} id ${ids.inSource(record)}`;
  const place = first === undefined ? "" : ` (first on line ${first})`;
  return { field: "id", reason: reason + place, kind: "duplicate id", hasId: true };
}

/** When a change file is applied, the old and new rows together may exceed the limit. */
function listTooMany(db: Database): FoundError[] {
  const types = ["role", "achievement"] as const;
  return types.filter((type) => countOf(db, limits[type].table) > limits[type].max).map(tooMany);
}

function tooMany(type: keyof typeof limits): FoundError {
  const { max, name } = limits[type];
  return { field: "", reason: `a dataset can have at most ${groupDigits(max)} ${name}` };
}

/** Copies the companies' names into the rows of the users that match `which`. */
export function nameCompanies(db: Database, which: SQL): void {
  const name = sql`SELECT name FROM company WHERE company.id = user.company_id`;
  db.run(sql`UPDATE user SET company_name = (${name}) WHERE ${which}`);
}

/** Judges the pending users, except those who have become private since. */
function judgePending({ $client }: Database, ids: Ids, report: ReportError): void {
  // If user 8 in the example of missingOf is pending and stands on line 2, this selects
  // (company.id, company, 3, 8, 2).
  const missing = $client.prepare<Reference>(
    `SELECT field, type, missing.id, user, at
      FROM (${missingOf("pending JOIN user USING (id)")}) AS missing
      JOIN pending ON pending.id = user ORDER BY at, rank`,
  );
  for (const { field, user, at, ...found } of missing.iterate()) {
    const problem = mustExist(field, found.type, ids.inSource(found));
    report({ ...problem, at, type: "user", id: user, missing: found });
  }
}

/** A reference to a record that does not exist. */
export interface Reference extends RecordKey {
  field: string;
  user: number;
  /** Where the user stands, or where the record is deleted. */
  at: Position;
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
export function missingOf(users: string): string {
  return `SELECT 1 AS rank, 'company.id' AS field, 'company' AS type, company_id AS id,
      user.id AS user FROM ${users}
      WHERE company_id IS NOT NULL AND company_id NOT IN (SELECT id FROM company)
    UNION ALL SELECT 2, 'roles', 'role', value, user.id FROM ${users}, json_each(roles)
      WHERE value NOT IN (SELECT id FROM role)
    UNION ALL SELECT 3, 'achievements', 'achievement', value ->> 0, user.id
      FROM ${users}, json_each(achievements)
      WHERE value ->> 0 NOT IN (SELECT id FROM achievement)`;
}

function reportLongUsers(db: Database, maxUnlocks: number, report: ReportError): void {
  for (const { id, name, bytes } of listLongUsers(db, maxUnlocks)) {
    const kind = `must take at most ${MAX_ACHIEVEMENTS_BYTES / 1024} KB in a response`;
    const reason = `${kind}, got ${Math.ceil(bytes / 1024)} KB for ${JSON.stringify(name)}`;
    report({ field: "achievements", reason, kind, type: "user", id });
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
