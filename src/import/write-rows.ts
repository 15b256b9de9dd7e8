/**
 * Writes the records of a dataset or a change file as rows. A duplicate id is an error immediately.
 * Records may come in any order, so the rows are completed after the last record (complete-rows.ts).
 */
import { eq, getTableColumns, getTableName, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { DatasetLine } from "../domain/dataset.ts";
import type { PublicUserLine } from "../domain/model.ts";
import type { Problem, RawRecord, RecordId, ReportProblem } from "../domain/records.ts";
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
import { type CompletionOptions, createCompletion } from "./complete-rows.ts";
import type { Ids } from "./ids.ts";

/** Definitions are limited because a server may hold all of them in memory. */
const limits = {
  role: { table: role, max: 10_000, name: "roles" },
  achievement: { table: achievement, max: 100_000, name: "achievement definitions" },
};

const givenId = sql.placeholder("id");

/** Writes the records of a dataset or a change file to a database. */
export interface RecordHandler {
  /** Validates a record, and writes it if it is valid. */
  take(record: RawRecord, line: number | undefined): Outcome;
  /** Completes the rows, and reports the errors that can be detected only after the last record. */
  complete(report: ReportProblem): void;
}

/** What a handler has done with a record. */
export interface Outcome {
  /** What is wrong with the record. */
  problems: readonly Problem[];
  /** Whether it was written, perhaps without what is invalid. */
  isWritten: boolean;
  /**
   * What has become of an invalid record, to end the messages about it, as in "; the user becomes private".
   * If this is undefined, its errors are final.
   */
  consequence?: string;
  /** Whether a user who was public or absent has become private. */
  madePrivate?: boolean;
}

/** Handles the records of a dataset, and has what other handlers need. */
export function createRows(db: Database, ids: Ids) {
  const inserts = prepareInserts(db);
  const removals = prepareDeletions(db);
  const completion = createCompletion(db, ids);
  /** The ids of the roles and achievements read so far. */
  const known = { role: new Set<number>(), achievement: new Set<number>() };
  const totals = {
    /** How many achievements the added users have unlocked, without those of removed users. */
    unlocked: 0,
    /** How many a user has at most. Infinite if earlier users may have become too long. */
    maxUnlocks: 0,
  };

  function take(record: RawRecord, line?: number): Outcome {
    const valid = validateRecord(record);
    const problems = Array.isArray(valid) ? valid : add(valid, line);
    return { problems, isWritten: problems.length === 0 };
  }

  /** Adds a record, or returns what is wrong with it. */
  function add(record: DatasetLine, line?: number): Problem[] {
    const { type, id } = record;
    if (type === "role" || type === "achievement") {
      if (known[type].size >= limits[type].max && !known[type].has(id)) return [tooMany(type)];
      known[type].add(id);
    }
    return insert(record, line) ? [] : [duplicateId(record, ids)];
  }

  /** Writes the row for a record. Returns false if its id is already taken. */
  function insert(record: DatasetLine, line?: number): boolean {
    switch (record.type) {
      case "role":
        return inserts.role(record);
      case "achievement":
        return inserts.achievement({ ...record, type: record.kind });
      case "company":
        return inserts.company({ ...record, folded: spell(record.name) });
      case "user":
        return record.public ? insertPublic(record, line) : inserts.privateUser(record);
    }
  }

  function insertPublic(record: PublicUserLine, line?: number): boolean {
    const { id, company, roles = [], achievements = [] } = record;
    // Undefined if the company has not been read yet.
    const companyName = company && inserts.findCompany.get({ id: company.id })?.name;
    if (!inserts.user(toUserRow(record, companyName))) return false;

    totals.unlocked += achievements.length;
    totals.maxUnlocks = Math.max(totals.maxUnlocks, achievements.length);
    const isPending =
      (company && companyName === undefined) ||
      roles.some((role) => !known.role.has(role)) ||
      achievements.some((unlock) => !known.achievement.has(unlock.id));
    if (isPending) completion.add(id, line);
    return true;
  }

  /** Returns whether there was such a record. */
  function remove({ type, id }: RecordId): boolean {
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

  function complete(report: ReportProblem, options?: CompletionOptions): void {
    completion.complete(report, totals.maxUnlocks, options);
    for (const error of listTooMany(db)) report(error);
  }

  return { totals, take, add, remove, hide, complete };
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
  const companies = db.select({ name: company.name }).from(company).where(eq(company.id, givenId));
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
 * Returns a function that adds a row to `table` unless its id is taken there or in the table `other`.
 * It returns whether the row was added. drizzle would make an import slower, and so would a SELECT in
 * the INSERT, from which SQLite copies each value once more.
 */
function prepareInsert<Table extends SQLiteTable>(
  { $client }: Database,
  table: Table,
  other: string = getTableName(table),
) {
  const columns = Object.keys(getTableColumns(table));
  const findTaken = $client.prepare(`SELECT 1 FROM ${other} WHERE id = ?`);
  const insert = $client.prepare(`INSERT INTO ${getTableName(table)} (${columns})
    VALUES (${columns.map(() => "?")}) ON CONFLICT DO NOTHING`);
  return (row: Table["$inferSelect"]): boolean => {
    const values = columns.map((name) => row[name] as string | number | null);
    return !findTaken.get(row.id as number) && insert.run(...values).changes > 0;
  };
}

function prepareDeletions(db: Database) {
  const unlocked = sql<number>`json_array_length(${user.achievements})`;
  return {
    role: db.delete(role).where(eq(role.id, givenId)).returning().prepare(),
    achievement: db.delete(achievement).where(eq(achievement.id, givenId)).returning().prepare(),
    company: db.delete(company).where(eq(company.id, givenId)).returning().prepare(),
    publicUser: db.delete(user).where(eq(user.id, givenId)).returning({ unlocked }).prepare(),
    privateUser: db.delete(privateUser).where(eq(privateUser.id, givenId)).returning().prepare(),
  };
}

/** The error for a record whose id another record of its type has. */
export function duplicateId(record: RecordId, ids: Ids): Problem {
  const reason = `duplicate ${record.type} id ${ids.inSource(record)}`;
  return { field: "id", reason, group: "duplicate id", isNamed: true };
}

/** When a change file is applied, the old and new rows together may exceed the limit. */
function listTooMany(db: Database): Problem[] {
  const types = ["role", "achievement"] as const;
  return types.filter((type) => countOf(db, limits[type].table) > limits[type].max).map(tooMany);
}

function tooMany(type: keyof typeof limits): Problem {
  const { max, name } = limits[type];
  return { field: "", reason: `a dataset can have at most ${groupDigits(max)} ${name}` };
}
