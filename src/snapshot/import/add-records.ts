/**
 * Writes each record of a dataset as a row. A duplicate id is reported immediately, but a reference
 * to a missing record only after the last record, because records may come in any order.
 */
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { DatasetLine, RecordKey } from "../../domain/dataset.ts";
import { MAX_ACHIEVEMENTS_BYTES, type PublicUserLine } from "../../domain/model.ts";
import type { FoundError, Place } from "../../domain/record-source.ts";
import { parseTime } from "../../domain/time.ts";
import { validateRecord } from "../../domain/validate-record.ts";
import { DUPLICATE_ID } from "../../domain/validation-errors.ts";
import { spell } from "../../search/fold.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { countOf } from "../format/meta.ts";
import { achievement, company, encodeUnlocks, role, type Unlock, user } from "../format/schema.ts";
import type { Ids } from "./ids.ts";
import type { RecordHandler } from "./read-dataset.ts";

/** Limited because the server may hold all definitions in memory. */
const limits = {
  role: { table: role, max: 10_000, name: "roles" },
  achievement: { table: achievement, max: 100_000, name: "achievement definitions" },
};

/** A record, and the place of the record that refers to it or deletes it. */
export type Reference = RecordKey & { at: Place };

export class RowWriter implements RecordHandler<DatasetLine> {
  /** The length of the longest list of achievements so far. With infinity, all are checked. */
  longestList = 0;
  readonly validate = validateRecord;
  readonly #db: Database;
  readonly #ids: Ids;
  readonly #statements: ReturnType<typeof prepareStatements>;
  /** The ids of the roles and achievements read so far. */
  readonly #known = { role: new Set<number>(), achievement: new Set<number>() };

  constructor(db: Database, ids: Ids) {
    this.#db = db;
    this.#ids = ids;
    this.#statements = prepareStatements(db);
  }

  add(record: DatasetLine, at: Place): FoundError[] {
    const { type, id } = record;
    if (type === "role" || type === "achievement") {
      const ids = this.#known[type];
      if (ids.size >= limits[type].max && !ids.has(id)) return [tooMany(type)];
      ids.add(id);
    }
    if (this.#insert(record, at)) return [];
    const reason = `duplicate ${type} id ${this.#ids.inSource(record)}`;
    return [{ field: "id", reason, kind: DUPLICATE_ID }];
  }

  /** Has `finish` yield an error for each user that still refers to one of these records. */
  addDeletions(deletions: Reference[]): void {
    // MATERIALIZED and CROSS have SQLite look each reference up in an index of the deletions.
    this.#db.run(sql`WITH deletion AS MATERIALIZED (SELECT
        value ->> 'type' AS type, value ->> 'id' AS id, value ->> 'at' AS at
        FROM json_each(${JSON.stringify(deletions)}))
      INSERT INTO pending SELECT at, 'id', type, id, user FROM
      (SELECT 'company' AS type, company_id AS id, id AS user FROM user
        UNION ALL SELECT 'role', value, user.id FROM user, json_each(roles)
        UNION ALL SELECT 'achievement', value ->> 0, user.id FROM user, json_each(achievements))
      CROSS JOIN deletion USING (type, id)`);
  }

  /** Yields an error for each reference to a missing record and for each exceeded limit. */
  *finish(): Generator<FoundError> {
    nameCompanies(this.#db, sql`id IN (SELECT user FROM pending WHERE type = 'company')`);

    const rows = this.#db.$client.prepare<Reference & { field: string; user: number }>(
      `SELECT at, field, type, id, user FROM pending
        WHERE NOT CASE type
          WHEN 'role' THEN id IN (SELECT id FROM role)
          WHEN 'company' THEN id IN (SELECT id FROM company)
          ELSE id IN (SELECT id FROM achievement) END
        ORDER BY at, rowid`,
    );
    for (const { at, field, type, id, user } of rows.iterate()) {
      const missing = { type, id };
      const name = `${type} ${this.#ids.inSource(missing)}`;
      const isDeleted = field === "id";
      const reason = isDeleted ? `${name} is still referenced` : `there is no ${name}`;
      const kind = isDeleted ? "is still referenced" : `there is no ${type}`;
      yield { at, field, reason, kind, type: "user", id: user, missing };
    }

    this.#db.$client.exec("DROP TABLE pending");
    // When a change file is applied, the old and new rows together may exceed the limit.
    for (const type of ["role", "achievement"] as const) {
      if (countOf(this.#db, limits[type].table) > limits[type].max) yield tooMany(type);
    }

    for (const { id, name, bytes } of listLongUsers(this.#db, this.longestList)) {
      const kind = `must take at most ${MAX_ACHIEVEMENTS_BYTES / 1024} KB in a response`;
      const reason = `${kind}, got ${Math.ceil(bytes / 1024)} KB for ${JSON.stringify(name)}`;
      yield { field: "achievements", reason, kind, type: "user", id };
    }
  }

  /** Writes the row for a record. Returns false if its id is already taken. */
  #insert(record: DatasetLine, at: Place): boolean {
    const { addRole, addAchievement, addCompany, addPrivateUser } = this.#statements;
    if (record.type === "role") return addRole.run(record).changes > 0;
    if (record.type === "achievement") {
      return addAchievement.run({ ...record, type: record.kind }).changes > 0;
    }
    if (record.type === "company") {
      return addCompany.run({ ...record, folded: spell(record.name) }).changes > 0;
    }
    if (record.public) return this.#insertUser(record, at);
    return addPrivateUser.run(record.id, record.id).changes > 0;
  }

  #insertUser(record: PublicUserLine, at: Place): boolean {
    const { id, company, roles = [], achievements = [] } = record;
    const { addUser, addPending, findCompany } = this.#statements;
    const companyName = company && findCompany.get(company.id)?.name;
    const unlocks = achievements
      .map(({ id, tier, unlocked_at }): Unlock => [id, tier, parseTime(unlocked_at) ?? 0])
      .sort(([a, , aTime], [b, , bTime]) => bTime - aTime || a - b);
    const added = addUser.run(
      id,
      record.name,
      spell(record.name),
      record.avatar_url ?? null,
      company?.id ?? null,
      companyName ?? null,
      company?.role ?? null,
      JSON.stringify(roles.toSorted((a, b) => a - b)),
      parseTime(record.created_at) ?? 0,
      JSON.stringify(unlocks),
      id,
    );

    if (added.changes === 0) return false;
    this.longestList = Math.max(this.longestList, unlocks.length);
    if (company && companyName === undefined) {
      addPending.run(at, "company.id", "company", company.id, id);
    }
    for (const [index, role] of roles.entries()) {
      if (!this.#known.role.has(role)) addPending.run(at, `roles[${index}]`, "role", role, id);
    }
    for (const [index, unlock] of achievements.entries()) {
      if (this.#known.achievement.has(unlock.id)) continue;
      addPending.run(at, `achievements[${index}].id`, "achievement", unlock.id, id);
    }
    return true;
  }
}

function prepareStatements(db: Database) {
  // The references to records that have not been read yet. They may be all of the dataset's, so the
  // table must be on disk. A TEMP table would be in memory (see temp_store in snapshot-writer.ts).
  db.$client.exec(
    "CREATE TABLE pending (at INTEGER, field TEXT, type TEXT, id INTEGER, user INTEGER)",
  );
  return {
    addRole: prepareInsert(db, role),
    addAchievement: prepareInsert(db, achievement),
    addCompany: prepareInsert(db, company),
    // Not in drizzle, which takes 3 s longer for a million users.
    addUser: db.$client.prepare(`INSERT INTO user
      (id, name, folded, avatar_url, company_id, company_name, company_role, roles, created_at,
        achievements)
      SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM private_user WHERE id = ?)
      ON CONFLICT DO NOTHING`),
    addPrivateUser: db.$client.prepare(`INSERT INTO private_user
      SELECT ? WHERE NOT EXISTS (SELECT 1 FROM user WHERE id = ?) ON CONFLICT DO NOTHING`),
    addPending: db.$client.prepare("INSERT INTO pending VALUES (?, ?, ?, ?, ?)"),
    findCompany: db.$client.prepare<{ name: string }>("SELECT name FROM company WHERE id = ?"),
  };
}

/** The parameters are named after the columns. Inserts nothing if the key is taken. */
function prepareInsert(db: Database, table: SQLiteTable) {
  const values = Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]);
  return db.insert(table).values(Object.fromEntries(values)).onConflictDoNothing().prepare();
}

/** More bytes than an entry adds to the JSON of its definition. */
const ENTRY_BYTES = 100;

/**
 * Lists the users whose achievements take more than {@link MAX_ACHIEVEMENTS_BYTES} in a response.
 * `bytes` is their size, and `fitting` has the newest that fit. Reads no user if `longestList`
 * times the longest definition would fit.
 */
export function* listLongUsers(db: Database, longestList: number) {
  const rows = db.select().from(achievement).all();
  const definitions = new Map(rows.map((row) => [row.id, JSON.stringify(row)]));
  const sizes = definitions.values().map((json) => Buffer.byteLength(json));
  const longest = sizes.reduce((max, size) => Math.max(max, size), 0);
  if (longestList * (longest + ENTRY_BYTES) <= MAX_ACHIEVEMENTS_BYTES) return;
  const jsonOf = (id: number) => definitions.get(id) ?? "";
  const { id, name, achievements } = user;
  const users = prepareText(db, db.select({ id, name, achievements }).from(user));
  for (const { id, name, achievements } of users.iterate()) {
    const unlocks: Unlock[] = JSON.parse(achievements);
    let bytes = 1;
    const fitting = unlocks.filter((unlock) => {
      // In a longer list, a comma takes the place of one of the two brackets.
      bytes += Buffer.byteLength(encodeUnlocks([unlock], jsonOf)) - 1;
      return bytes <= MAX_ACHIEVEMENTS_BYTES;
    });
    if (fitting.length < unlocks.length) yield { id, name, bytes, fitting };
  }
}

function tooMany(type: keyof typeof limits): FoundError {
  const { max, name } = limits[type];
  return { field: "", reason: `a dataset can have at most ${max.toLocaleString("en")} ${name}` };
}

/** Copies the companies' names into the rows of the users that match `which`. */
export function nameCompanies(db: Database, which: SQL): void {
  const name = sql`SELECT name FROM company WHERE company.id = user.company_id`;
  db.run(sql`UPDATE user SET company_name = (${name}) WHERE ${which}`);
}
