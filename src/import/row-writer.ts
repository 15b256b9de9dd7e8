/**
 * Writes each record of a dataset as a row. A duplicate id is reported immediately, but a reference
 * to a missing record only after the last record; see handle-records.ts.
 */
import { eq, getTableColumns, getTableName, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { DatasetLine, FoundError, Position, RecordKey } from "../domain/dataset.ts";
import type { PublicUserLine } from "../domain/model.ts";
import { groupDigits } from "../domain/text.ts";
import { parseTime } from "../domain/time.ts";
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
import type { Ids } from "./ids.ts";

/** Definitions are limited because a server may hold all of them in memory. */
const MAX_ROLE_DEFINITIONS = 10_000;
const MAX_ACHIEVEMENT_DEFINITIONS = 100_000;

/** A record that a change deletes, and to which users may still refer. */
export interface Deletion extends RecordKey {
  at: Position;
}

/** How many achievements a user has at most; unknown if the definitions of earlier users change. */
export type MostUnlocks = number | "unknown";

const limits = {
  role: { table: role, max: MAX_ROLE_DEFINITIONS, name: "roles" },
  achievement: {
    table: achievement,
    max: MAX_ACHIEVEMENT_DEFINITIONS,
    name: "achievement definitions",
  },
};

const id = sql.placeholder("id");

export type RowWriter = ReturnType<typeof createRowWriter>;

export function createRowWriter(db: Database, ids: Ids) {
  const inserts = prepareInserts(db);
  const removals = prepareDeletions(db);
  // The users whose references must be judged. On disk, unlike a TEMP table (see temp_store in
  // snapshot-writer.ts), because these may be all users.
  db.$client.exec("CREATE TABLE pending (id INTEGER PRIMARY KEY, at INTEGER)");
  const pending = db.$client.prepare("INSERT INTO pending VALUES (?, ?)");
  /** The ids of the roles and achievements read so far. */
  const known = { role: new Set<number>(), achievement: new Set<number>() };
  const totals = {
    /** How many achievements the users have unlocked whose rows were added, less those removed. */
    unlocked: 0,
    mostUnlocks: 0 as MostUnlocks,
  };
  /** The records that a change deletes. */
  const deletions: Deletion[] = [];

  function toRow(record: PublicUserLine) {
    const { company, achievements = [] } = record;
    if (totals.mostUnlocks !== "unknown") {
      totals.mostUnlocks = Math.max(totals.mostUnlocks, achievements.length);
    }
    return toUserRow(record, company && inserts.findCompany.get(company.id)?.name);
  }

  function insertUser(record: PublicUserLine, at: Position): boolean {
    const { id, roles = [], achievements = [] } = record;
    const row = toRow(record);
    if (!inserts.user(row)) return false;

    totals.unlocked += achievements.length;
    const isComplete =
      (row.company_id === null || row.company_name !== null) &&
      roles.every((role) => known.role.has(role)) &&
      achievements.every((unlock) => known.achievement.has(unlock.id));
    if (!isComplete) pending.run(id, at);
    return true;
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
        return record.public ? insertUser(record, at) : inserts.privateUser(record);
    }
  }

  function removePublic(id: number): boolean {
    const [removed] = removals.publicUser.all({ id });
    if (removed) totals.unlocked -= removed.unlocked;
    return removed !== undefined;
  }

  /** `first` is the line of another record with the same id, if it is known. */
  function add(record: DatasetLine, at: Position, first?: number): FoundError[] {
    const { type, id } = record;
    if (type === "role" || type === "achievement") {
      if (known[type].size >= limits[type].max && !known[type].has(id)) return [tooMany(type)];
      known[type].add(id);
    }
    return insert(record, at) ? [] : [duplicateId(record, ids, first)];
  }

  return {
    totals,
    deletions,
    toRow,
    add,
    /** Returns whether there was such a record. */
    remove({ type, id }: RecordKey): boolean {
      if (type !== "user") return removals[type].run({ id }).changes > 0;
      return removePublic(id) || removals.privateUser.run({ id }).changes > 0;
    },
    /** Makes a user private. Returns false if the user was private already. */
    hide(id: number): boolean {
      removePublic(id);
      return inserts.privateUser({ id });
    },
  };
}

function toUserRow(
  { id, name, avatar_url, created_at, company, roles = [], achievements = [] }: PublicUserLine,
  companyName: string | null | undefined,
) {
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
    user: prepareInsert(db, user, { taken: "private_user" }),
    privateUser: prepareInsert(db, privateUser, { taken: "user" }),
    findCompany: prepareText(db, companies),
  };
}

/**
 * Returns a function that adds a row to `table`, or to the table `into` with the same columns, unless
 * its id is taken there or in the table `taken`. Returns whether it was added. With drizzle, a million
 * users take 3 s longer.
 */
export function prepareInsert<Table extends SQLiteTable>(
  db: Database,
  table: Table,
  names: { into?: string; taken?: string } = {},
) {
  const into = names.into ?? getTableName(table);
  const taken = names.taken ?? into;
  const columns = Object.keys(getTableColumns(table));
  const statement = db.$client.prepare(`INSERT INTO ${into} (${columns})
    SELECT ${columns.map(() => "?")} WHERE NOT EXISTS (SELECT 1 FROM ${taken} WHERE id = ?)
    ON CONFLICT DO NOTHING`);
  return (row: Table["$inferSelect"]) => {
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
export function listTooMany(db: Database): FoundError[] {
  const types = ["role", "achievement"] as const;
  return types.filter((type) => countOf(db, limits[type].table) > limits[type].max).map(tooMany);
}

function tooMany(type: keyof typeof limits): FoundError {
  const { max, name } = limits[type];
  return { field: "", reason: `a dataset can have at most ${groupDigits(max)} ${name}` };
}
