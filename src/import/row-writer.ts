/**
 * Writes each record of a dataset as a row. A duplicate id is reported immediately, but a reference
 * to a missing record only after the last record.
 */
import { eq, getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { DatasetLine, RecordKey } from "../domain/dataset.ts";
import { MAX_ACHIEVEMENT_DEFINITIONS, MAX_ROLE_DEFINITIONS } from "../domain/limits.ts";
import type { PublicUserLine } from "../domain/model.ts";
import type { FoundError, Position } from "../domain/record-reader.ts";
import { parseTime } from "../domain/time.ts";
import { validateRecord } from "../domain/validate-record.ts";
import { spell } from "../search/fold.ts";
import { countOf } from "../snapshot/format/meta.ts";
import type { Unlock } from "../snapshot/format/records.ts";
import { achievement, company, privateUser, role, user } from "../snapshot/format/schema.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import { LongUsers } from "./long-users.ts";
import type { RecordHandler, Report } from "./read-dataset.ts";
import { References } from "./references.ts";

const limits = {
  role: { table: role, max: MAX_ROLE_DEFINITIONS, name: "roles" },
  achievement: {
    table: achievement,
    max: MAX_ACHIEVEMENT_DEFINITIONS,
    name: "achievement definitions",
  },
};

const id = sql.placeholder("id");

export class RowWriter implements RecordHandler<DatasetLine> {
  readonly validate = validateRecord;
  /** How many achievements the users have unlocked whose rows were added, less those removed. */
  unlocked = 0;
  readonly references: References;
  readonly longUsers: LongUsers;
  protected readonly db: Database;
  readonly #ids: Ids;
  readonly #inserts: ReturnType<typeof prepareInserts>;
  readonly #deletions: ReturnType<typeof prepareDeletions>;
  /** The ids of the roles and achievements read so far. */
  readonly #known = { role: new Set<number>(), achievement: new Set<number>() };

  constructor(db: Database, ids: Ids) {
    this.db = db;
    this.#ids = ids;
    this.references = new References(db, ids);
    this.longUsers = new LongUsers(db);
    this.#inserts = prepareInserts(db);
    this.#deletions = prepareDeletions(db);
  }

  add(record: DatasetLine, at: Position): FoundError[] {
    const { type, id } = record;
    if (type === "role" || type === "achievement") {
      const ids = this.#known[type];
      if (ids.size >= limits[type].max && !ids.has(id)) return [tooMany(type)];
      ids.add(id);
    }

    return this.#insert(record, at) ? [] : [duplicateId(record, this.#ids)];
  }

  /** Returns whether there was such a record. */
  remove({ type, id }: RecordKey): boolean {
    if (type !== "user") return this.#deletions[type].run({ id }).changes > 0;
    return this.#removePublic(id) || this.#deletions.privateUser.run({ id }).changes > 0;
  }

  /** Makes a user private. Returns false if the user was private already. */
  hide(id: number): boolean {
    this.#removePublic(id);
    return this.#inserts.privateUser({ id });
  }

  finish(report: Report): void {
    nameCompanies(this.db, sql`id IN (${this.references.usersBeforeCompany()})`);
    this.references.finish(report);
    // When a change file is applied, the old and new rows together may exceed the limit.
    for (const type of ["role", "achievement"] as const) {
      if (countOf(this.db, limits[type].table) > limits[type].max) report(tooMany(type));
    }
    this.longUsers.finish(report);
  }

  /** Copies the names of companies into the rows of their members. */
  nameMembers(companyIds: readonly number[]): void {
    const ids = JSON.stringify(companyIds);
    nameCompanies(this.db, sql`company_id IN (SELECT value FROM json_each(${ids}))`);
  }

  /** Notes what has to be checked after the last record. */
  noteUser(
    { id: user, company, roles = [], achievements = [] }: PublicUserLine,
    at: Position,
    isCompanyKnown = false,
  ): void {
    this.longUsers.note(achievements.length);
    if (company && !isCompanyKnown) {
      this.references.add(at, "company.id", { type: "company", id: company.id }, user);
    }
    for (const [index, id] of roles.entries()) {
      if (this.#known.role.has(id)) continue;
      this.references.add(at, `roles[${index}]`, { type: "role", id }, user);
    }
    for (const [index, { id }] of achievements.entries()) {
      if (this.#known.achievement.has(id)) continue;
      this.references.add(at, `achievements[${index}].id`, { type: "achievement", id }, user);
    }
  }

  /** Writes the row for a record. Returns false if its id is already taken. */
  #insert(record: DatasetLine, at: Position): boolean {
    const inserts = this.#inserts;
    switch (record.type) {
      case "role":
        return inserts.role(record);
      case "achievement":
        return inserts.achievement({ ...record, type: record.kind });
      case "company":
        return inserts.company({ ...record, folded: spell(record.name) });
      case "user":
        return record.public ? this.#insertUser(record, at) : inserts.privateUser(record);
    }
  }

  #insertUser(record: PublicUserLine, at: Position): boolean {
    const { id, name, company, roles = [] } = record;
    const companyName = company && this.#inserts.findCompany.get(company.id)?.name;
    const unlocks = listUnlocks(record);
    const isAdded = this.#inserts.user({
      id,
      name,
      folded: spell(name),
      avatar_url: record.avatar_url ?? null,
      company_id: company?.id ?? null,
      company_name: companyName ?? null,
      company_role: company?.role ?? null,
      roles: JSON.stringify(roles.toSorted((a, b) => a - b)),
      created_at: parseTime(record.created_at) ?? 0,
      achievements: JSON.stringify(unlocks),
    });
    if (!isAdded) return false;

    this.unlocked += unlocks.length;
    this.noteUser(record, at, companyName !== undefined);
    return true;
  }

  #removePublic(id: number): boolean {
    const [removed] = this.#deletions.publicUser.all({ id });
    if (removed) this.unlocked -= removed.unlocked;
    return removed !== undefined;
  }
}

/** Lists the achievements of a user, the newest first. */
export function listUnlocks({ achievements = [] }: PublicUserLine): Unlock[] {
  return achievements
    .map(({ id, tier, unlocked_at }): Unlock => [id, tier, parseTime(unlocked_at) ?? 0])
    .sort(([a, , aTime], [b, , bTime]) => bTime - aTime || a - b);
}

function prepareInserts(db: Database) {
  const companies = db.select({ name: company.name }).from(company).where(eq(company.id, id));
  return {
    role: prepareInsert(db, role),
    achievement: prepareInsert(db, achievement),
    company: prepareInsert(db, company),
    user: prepareInsert(db, user, privateUser),
    privateUser: prepareInsert(db, privateUser, user),
    findCompany: prepareText(db, companies),
  };
}

/**
 * Returns a function that adds a row, unless its id is taken, also in `other`. Returns whether it was
 * added. With drizzle, a million users take 3 s longer.
 */
function prepareInsert<Table extends SQLiteTable>(
  db: Database,
  table: Table,
  other: SQLiteTable = table,
) {
  const columns = Object.keys(getTableColumns(table));
  const statement = db.$client.prepare(`INSERT INTO ${getTableName(table)} (${columns})
    SELECT ${columns.map(() => "?")}
    WHERE NOT EXISTS (SELECT 1 FROM ${getTableName(other)} WHERE id = ?) ON CONFLICT DO NOTHING`);
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

/** The error for a record whose id another record of its type has. */
export function duplicateId(record: RecordKey, ids: Ids): FoundError {
  const reason = `duplicate ${record.type} id ${ids.inSource(record)}`;
  return { field: "id", reason, kind: "duplicate id", isDuplicate: true };
}

function tooMany(type: keyof typeof limits): FoundError {
  const { max, name } = limits[type];
  return { field: "", reason: `a dataset can have at most ${max.toLocaleString("en")} ${name}` };
}

/** Copies the companies' names into the rows of the users that match `which`. */
function nameCompanies(db: Database, which: SQL): void {
  const name = sql`SELECT name FROM company WHERE company.id = user.company_id`;
  db.run(sql`UPDATE user SET company_name = (${name}) WHERE ${which}`);
}
