/**
 * Writes the records of a dataset or a change file as rows. A duplicate id is an error immediately.
 * Other errors that a record does not show by itself are found after the last one; see finish-rows.ts.
 */
import { eq, getTableColumns, getTableName, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { DatasetLine, FoundError, Position, RecordKey } from "../domain/dataset.ts";
import type { PublicUserLine } from "../domain/model.ts";
import { groupDigits } from "../domain/text.ts";
import { parseTime } from "../domain/time.ts";
import { validateRecord } from "../domain/validate-record.ts";
import { spell } from "../search/fold.ts";
import { countOf } from "../snapshot/format/meta.ts";
import {
  achievement,
  company,
  privateUser,
  role,
  type Unlock,
  user,
} from "../snapshot/format/schema.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";
import { type Deletion, finishRows } from "./finish-rows.ts";
import type { Ids } from "./ids.ts";
import type { ReportError } from "./read-dataset.ts";

/** Definitions are limited because a server may hold all of them in memory. */
const MAX_ROLE_DEFINITIONS = 10_000;
const MAX_ACHIEVEMENT_DEFINITIONS = 100_000;

const limits = {
  role: { table: role, max: MAX_ROLE_DEFINITIONS, name: "roles" },
  achievement: {
    table: achievement,
    max: MAX_ACHIEVEMENT_DEFINITIONS,
    name: "achievement definitions",
  },
};

const id = sql.placeholder("id");

/** Handles records so that every error is final. */
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
    /** How many achievements the users have unlocked whose rows were added, less those removed. */
    unlocked: 0,
    /** How many a user has at most. Infinite if earlier users may have become too long. */
    mostUnlocks: 0,
  };

  /** `first` is the line of another record with the same id, if it is known. */
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
    const row = toRow(record);
    if (!inserts.user(row)) return false;

    totals.unlocked += achievements.length;
    const isComplete =
      (!company || row.company_name !== null) &&
      roles.every((role) => known.role.has(role)) &&
      achievements.every((unlock) => known.achievement.has(unlock.id));
    if (!isComplete) addPending.run(id, at);
    return true;
  }

  /** The name of the company is null if the company has not been read yet. */
  function toRow(record: PublicUserLine): typeof user.$inferSelect {
    const { company, achievements = [] } = record;
    totals.mostUnlocks = Math.max(totals.mostUnlocks, achievements.length);
    return toUserRow(record, company && inserts.findCompany.get(company.id)?.name);
  }

  /** Returns whether there was such a record. */
  function remove({ type, id }: RecordKey): boolean {
    if (type === "achievement") totals.mostUnlocks = Number.POSITIVE_INFINITY;
    if (type !== "user") return removals[type].run({ id }).changes > 0;
    return removePublic(id) || removals.privateUser.run({ id }).changes > 0;
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

  /** Completes the rows, and reports the errors that can be detected only after the last record. */
  function finish(report: ReportError, deletions: readonly Deletion[] = []): void {
    finishRows(db, totals.mostUnlocks, deletions, ids, report);
    for (const error of listTooMany(db)) report(error);
  }

  return { validate: validateRecord, totals, add, toRow, remove, hide, finish };
}

function toUserRow(
  { id, name, avatar_url, created_at, company, roles = [], achievements = [] }: PublicUserLine,
  companyName: string | null | undefined,
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
 * It returns whether the row was added. With drizzle, a million users take 3 s longer.
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
    role: db.delete(role).where(eq(role.id, id)).prepare(),
    achievement: db.delete(achievement).where(eq(achievement.id, id)).prepare(),
    company: db.delete(company).where(eq(company.id, id)).prepare(),
    publicUser: db.delete(user).where(eq(user.id, id)).returning({ unlocked }).prepare(),
    privateUser: db.delete(privateUser).where(eq(privateUser.id, id)).prepare(),
  };
}

/** The error for a record whose id another record of its type has, on the line `first` if given. */
export function duplicateId(record: RecordKey, ids: Ids, first?: number): FoundError {
  const reason = `duplicate ${record.type} id ${ids.inSource(record)}`;
  const place = first === undefined ? "" : ` (first on line ${first})`;
  return { field: "id", reason: reason + place, kind: "duplicate id", isDuplicate: true };
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
