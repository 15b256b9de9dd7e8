/**
 * Writes each record of a dataset as a row. A duplicate id is reported immediately, but a reference
 * to a missing record only after the last record.
 */
import { eq, getTableColumns, type SQL, sql } from "drizzle-orm";
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
import { type LongUser, LongUsers, type UserUnlocks } from "./long-users.ts";
import type { RecordHandler, Report } from "./record-handler.ts";
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

const userColumns = Object.keys(getTableColumns(user)) as (keyof typeof user.$inferSelect)[];

export class RowWriter implements RecordHandler<DatasetLine> {
  readonly validate = validateRecord;
  /** How many achievements the users have unlocked whose rows were added, less those removed. */
  unlocked = 0;
  readonly #references: References;
  readonly #longUsers: LongUsers;
  readonly #db: Database;
  readonly #ids: Ids;
  readonly #inserts: ReturnType<typeof prepareInserts>;
  readonly #deletions: ReturnType<typeof prepareDeletions>;
  /** The ids of the roles and achievements read so far. */
  readonly #known = { role: new Set<number>(), achievement: new Set<number>() };

  constructor(db: Database, ids: Ids) {
    this.#db = db;
    this.#ids = ids;
    this.#references = new References(db, ids);
    this.#longUsers = new LongUsers(db);
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
    return this.#inserts.addPrivateUser.run({ id }).changes > 0;
  }

  /** Notes the references in another record of a user, of whom the first record counts. */
  noteRepeated(record: PublicUserLine, at: Position): void {
    this.#longUsers.note(record.achievements?.length ?? 0);
    this.#noteReferences(record, at, false);
  }

  /** Notes that a change deletes a record, to which users may still refer. */
  noteDeletion(record: RecordKey, at: Position): void {
    this.#references.addDeletion(at, record);
  }

  /** Has the users checked who were written earlier, because a definition may have become longer. */
  recheckLongUsers(): void {
    this.#longUsers.checkAll();
  }

  /** Lists those of `users`, or of all, whose achievements are too long for a response. */
  listLongUsers(users?: Iterable<UserUnlocks>): Iterable<LongUser> {
    return this.#longUsers.list(users);
  }

  finish(report: Report): void {
    nameCompanies(this.#db, sql`id IN (${this.#references.usersBeforeCompany()})`);
    this.#references.finish(report);
    // When a change file is applied, the old and new rows together may exceed the limit.
    for (const type of ["role", "achievement"] as const) {
      if (countOf(this.#db, limits[type].table) > limits[type].max) report(tooMany(type));
    }
    this.#longUsers.finish(report);
  }

  /** Copies the names of companies into the rows of their members. */
  nameMembers(companyIds: Iterable<number>): void {
    const ids = JSON.stringify([...companyIds]);
    nameCompanies(this.#db, sql`company_id IN (SELECT value FROM json_each(${ids}))`);
  }

  /** Writes the row for a record. Returns false if its id is already taken. */
  #insert(record: DatasetLine, at: Position): boolean {
    const { addRole, addAchievement, addCompany, addPrivateUser } = this.#inserts;
    if (record.type === "role") return addRole.run(record).changes > 0;
    if (record.type === "achievement") {
      return addAchievement.run({ ...record, type: record.kind }).changes > 0;
    }
    if (record.type === "company") {
      return addCompany.run({ ...record, folded: spell(record.name) }).changes > 0;
    }
    if (record.public) return this.#insertUser(record, at);
    return addPrivateUser.run(record).changes > 0;
  }

  #removePublic(id: number): boolean {
    const [removed] = this.#deletions.publicUser.all({ id });
    if (removed) this.unlocked -= removed.unlocked;
    return removed !== undefined;
  }

  #insertUser(record: PublicUserLine, at: Position): boolean {
    const { id, company, roles = [], achievements = [] } = record;
    const { addUser, findCompany } = this.#inserts;
    const companyName = company && findCompany.get(company.id)?.name;

    const unlocks = listUnlocks(achievements);
    const row: typeof user.$inferSelect = {
      id,
      name: record.name,
      folded: spell(record.name),
      avatar_url: record.avatar_url ?? null,
      company_id: company?.id ?? null,
      company_name: companyName ?? null,
      company_role: company?.role ?? null,
      roles: JSON.stringify(roles.toSorted((a, b) => a - b)),
      created_at: parseTime(record.created_at) ?? 0,
      achievements: JSON.stringify(unlocks),
    };

    const values = userColumns.map((name) => row[name]);
    const added = addUser.run(...values, id);
    if (added.changes === 0) return false;

    this.unlocked += unlocks.length;
    this.#longUsers.note(unlocks.length);
    this.#noteReferences(record, at, companyName !== undefined);
    return true;
  }

  #noteReferences(
    { id: user, company, roles = [], achievements = [] }: PublicUserLine,
    at: Position,
    isCompanyKnown: boolean,
  ): void {
    if (company && !isCompanyKnown) {
      this.#references.add(at, "company.id", { type: "company", id: company.id }, user);
    }
    for (const [index, id] of roles.entries()) {
      if (this.#known.role.has(id)) continue;
      this.#references.add(at, `roles[${index}]`, { type: "role", id }, user);
    }
    for (const [index, { id }] of achievements.entries()) {
      if (this.#known.achievement.has(id)) continue;
      this.#references.add(at, `achievements[${index}].id`, { type: "achievement", id }, user);
    }
  }
}

/** Lists the achievements of a user, the newest first. */
export function listUnlocks(achievements: PublicUserLine["achievements"] = []): Unlock[] {
  return achievements
    .map(({ id, tier, unlocked_at }): Unlock => [id, tier, parseTime(unlocked_at) ?? 0])
    .sort(([a, , aTime], [b, , bTime]) => bTime - aTime || a - b);
}

function prepareInserts(db: Database) {
  const companies = db.select({ name: company.name }).from(company).where(eq(company.id, id));
  return {
    addRole: prepareInsert(db, role),
    addAchievement: prepareInsert(db, achievement),
    addCompany: prepareInsert(db, company),
    // Not in drizzle, which takes 3 s longer for a million users.
    addUser: db.$client.prepare(`INSERT INTO user (${userColumns.join(", ")})
      SELECT ${userColumns.map(() => "?").join(", ")}
      WHERE NOT EXISTS (SELECT 1 FROM private_user WHERE id = ?) ON CONFLICT DO NOTHING`),
    addPrivateUser: db
      .insert(privateUser)
      .select(sql`SELECT ${id} WHERE NOT EXISTS (SELECT 1 FROM user WHERE id = ${id})`)
      .onConflictDoNothing()
      .prepare(),
    findCompany: prepareText(db, companies),
  };
}

/** The parameters are named after the columns. Inserts nothing if the key is taken. */
function prepareInsert(db: Database, table: SQLiteTable) {
  const values = Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]);
  return db.insert(table).values(Object.fromEntries(values)).onConflictDoNothing().prepare();
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
