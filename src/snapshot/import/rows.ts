/**
 * Writes each line of a dataset as a row. A duplicate id is reported immediately, but a reference
 * to a missing record only after the last line, because lines may come in any order.
 */
import { count, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type DatasetLine, validateRecord } from "../../domain/dataset.ts";
import { MAX_ACHIEVEMENTS_BYTES, type PublicUserLine } from "../../domain/model.ts";
import { parseTime } from "../../domain/time.ts";
import type { ValidationError } from "../../domain/validation.ts";
import { hasBit, setBit } from "../../search/bits.ts";
import type { Database } from "../../sqlite/driver.ts";
import { achievement, company, privateUser, role, type Unlock, user } from "../format/schema.ts";
import { encodeUnlocks } from "../read/users.ts";
import type { FinalError } from "./line-errors.ts";
import type { LineHandler } from "./read-dataset.ts";

/**
 * The size of a bit array in which each private user's id sets one bit. If the bit for a public
 * user's id is not set, no private user has the same id, so no lookup is needed. Private users from
 * before `apply` need no bit, because `apply` removes a user's old record before it adds the new
 * one.
 */
const PRIVATE_BITS = 2 ** 23;

/** The number of definitions is limited because the server may hold all of them in memory. */
const definitions = {
  role: { table: role, max: 10_000, name: "roles" },
  achievement: { table: achievement, max: 100_000, name: "achievement definitions" },
};
type Definition = keyof typeof definitions;
const isDefinition = (type: DatasetLine["type"]): type is Definition => type in definitions;

export type Referenced = "role" | "achievement" | "company";

export class RowWriter implements LineHandler<DatasetLine> {
  readonly validate = validateRecord;
  /** The ids of the roles and achievements read so far. */
  protected readonly known = { role: new Set<number>(), achievement: new Set<number>() };
  protected readonly db: Database;
  private readonly statements: ReturnType<typeof prepareStatements>;
  private readonly companyNames = new Map<number, string>();
  private readonly privateBits = new Uint32Array(PRIVATE_BITS / 32);
  /** The most achievements that a user read so far has unlocked. */
  protected longestList = 0;
  /** The line numbers of the last role and the last achievement read so far. */
  private readonly lastLines = { role: 0, achievement: 0 };

  constructor(db: Database) {
    // Holds the references to records that have not been read yet. In the worst case, these are all
    // the references in the dataset, so the table must be on disk. A TEMP table would be in memory
    // (see temp_store in write.ts).
    db.$client.exec(
      "CREATE TABLE pending (line INTEGER, field TEXT, type TEXT, id INTEGER, user INTEGER)",
    );
    this.db = db;
    this.statements = prepareStatements(db);
  }

  add(line: DatasetLine, number: number): ValidationError[] {
    const { type, id } = line;
    if (isDefinition(type)) {
      this.lastLines[type] = number;
      const isFull = this.known[type].size >= definitions[type].max;
      if (isFull && !this.known[type].has(id)) return [tooMany(type)];
    }
    if (this.insert(line, number)) return [];
    return [{ field: "id", reason: `duplicate ${type} id ${id}`, kind: "duplicate id" }];
  }

  /** Yields an error for each reference to a missing record and for each exceeded limit. */
  *finish(): Generator<FinalError> {
    nameCompanies(this.db, sql`${user.id} IN (SELECT user FROM pending WHERE type = 'company')`);
    const rows = this.db.$client.prepare<
      Record<"line" | "id" | "user", number> & { field: string; type: Referenced }
    >(
      `SELECT line, field, type, id, user FROM pending
        WHERE NOT CASE type
                WHEN 'role' THEN EXISTS (SELECT 1 FROM role WHERE role.id = pending.id)
                WHEN 'company' THEN EXISTS (SELECT 1 FROM company WHERE company.id = pending.id)
                ELSE EXISTS (SELECT 1 FROM achievement WHERE achievement.id = pending.id) END
        ORDER BY line, rowid`,
    );
    for (const { line, field, type, id, user } of rows.iterate()) {
      const kind = `there is no ${type}`;
      const missing = { type, id };
      yield { line, field, reason: `${kind} ${id}`, kind, type: "user", id: user, missing };
    }
    this.db.$client.exec("DROP TABLE pending");
    // When a change file is applied, the old and new rows together may exceed the limit.
    for (const type of ["role", "achievement"] as const) {
      const { table, max } = definitions[type];
      const line = this.lastLines[type];
      const rows = this.db.select({ count: count() }).from(table).get()?.count ?? 0;
      if (line > 0 && rows > max) yield { line, type, ...tooMany(type) };
    }
    for (const { id, name, bytes } of listLongUsers(this.db, this.longestList)) {
      const kind = `must take at most ${MAX_ACHIEVEMENTS_BYTES / 1024} KB in a response`;
      const reason = `${kind}, got ${Math.ceil(bytes / 1024)} KB for ${JSON.stringify(name)}`;
      yield { field: "achievements", reason, kind, type: "user", id };
    }
  }

  /** Makes {@link finish} check the achievements of all users, because definitions changed. */
  checkAllUsers(): void {
    this.longestList = Number.POSITIVE_INFINITY;
  }

  /** Writes the row for a line. Returns false if the line's id is already taken. */
  private insert(line: DatasetLine, number: number): boolean {
    const { id } = line;
    const { statements } = this;
    switch (line.type) {
      case "role":
        this.known.role.add(id);
        return statements.addRole.run(line).changes > 0;
      case "achievement":
        this.known.achievement.add(id);
        return statements.addAchievement.run({ ...line, type: line.kind }).changes > 0;
      case "company":
        this.companyNames.set(id, line.name);
        return statements.addCompany.run({ ...line, memberCount: line.member_count }).changes > 0;
    }
    if (!line.public) {
      setBit(this.privateBits, id % PRIVATE_BITS);
      return !statements.findUser.get({ id }) && statements.addPrivateUser.run({ id }).changes > 0;
    }
    const mayBePrivate = hasBit(this.privateBits, id % PRIVATE_BITS);
    if (mayBePrivate && statements.findPrivateUser.get({ id })) return false;
    return this.insertUser(line, number);
  }

  private insertUser(line: PublicUserLine, number: number): boolean {
    const { id, company } = line;
    const { addUser, addPending, findCompany } = this.statements;
    const companyName = company
      ? (this.companyNames.get(company.id) ?? findCompany.get(company)?.name)
      : undefined;
    const unlocks = listUnlocks(line);
    const added = addUser.run(
      id,
      line.name,
      line.avatar_url ?? null,
      company?.id ?? null,
      companyName ?? null,
      company?.role ?? null,
      JSON.stringify(line.roles?.toSorted((a, b) => a - b) ?? []),
      parseTime(line.created_at) ?? 0,
      JSON.stringify(unlocks),
    );
    if (added.changes === 0) return false;
    this.longestList = Math.max(this.longestList, unlocks.length);
    if (company && companyName === undefined) {
      addPending.run(number, "company.id", "company", company.id, id);
    }
    line.roles?.forEach((role, index) => {
      if (!this.known.role.has(role)) addPending.run(number, `roles[${index}]`, "role", role, id);
    });
    line.achievements?.forEach((unlock, index) => {
      if (this.known.achievement.has(unlock.id)) return;
      addPending.run(number, `achievements[${index}].id`, "achievement", unlock.id, id);
    });
    return true;
  }
}

/** Returns a user's achievements, newest first. */
function listUnlocks({ achievements = [] }: PublicUserLine): Unlock[] {
  return achievements
    .map(({ id, tier, unlocked_at }): Unlock => [id, tier, parseTime(unlocked_at) ?? 0])
    .sort(([a, , aTime], [b, , bTime]) => bTime - aTime || a - b);
}

function prepareStatements(db: Database) {
  const id = sql.placeholder("id");
  const companyById = db.select({ name: company.name }).from(company).where(eq(company.id, id));
  return {
    addRole: prepareInsert(db, role),
    addAchievement: prepareInsert(db, achievement),
    addCompany: prepareInsert(db, company),
    // Not in drizzle, which takes 3 s longer for a million users.
    addUser: db.$client.prepare(`INSERT INTO user
      (id, name, avatar_url, company_id, company_name, company_role, roles, created_at, achievements)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`),
    addPrivateUser: prepareInsert(db, privateUser),
    addPending: db.$client.prepare("INSERT INTO pending VALUES (?, ?, ?, ?, ?)"),
    findUser: db.select({ id: user.id }).from(user).where(eq(user.id, id)).prepare(),
    findPrivateUser: db.select().from(privateUser).where(eq(privateUser.id, id)).prepare(),
    findCompany: companyById.prepare(),
  };
}

/**
 * Prepares an insert whose parameters are named after the table's columns. The insert does nothing
 * if the table already has a row with the same key.
 */
function prepareInsert<Table extends SQLiteTable>(db: Database, table: Table) {
  const values = Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]);
  return db.insert(table).values(Object.fromEntries(values)).onConflictDoNothing().prepare();
}

/** More than an entry adds to the JSON of its definition. */
const ENTRY_BYTES = 100;

/**
 * Lists the users whose achievements take more than {@link MAX_ACHIEVEMENTS_BYTES} in a response:
 * `bytes` is the size of all of them, and `fitting` has the newest, as many as fit.
 * Reads no user if even `longestList` of the longest definitions take less.
 */
export function* listLongUsers(db: Database, longestList: number) {
  const definitions = new Map<number, string>();
  let longest = 0;
  for (const row of db.select().from(achievement).all()) {
    const json = JSON.stringify(row);
    definitions.set(row.id, json);
    longest = Math.max(longest, Buffer.byteLength(json));
  }
  if (longestList * (longest + ENTRY_BYTES) <= MAX_ACHIEVEMENTS_BYTES) return;
  const jsonOf = (id: number) => definitions.get(id) ?? "";
  const rows = db.$client.prepare<{ id: number; name: string; achievements: string }>(
    "SELECT id, name, achievements FROM user",
  );
  for (const { id, name, achievements } of rows.iterate()) {
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

function tooMany(type: Definition): ValidationError {
  const { max, name } = definitions[type];
  return { field: "", reason: `a dataset can have at most ${max.toLocaleString("en")} ${name}` };
}

/** Updates the company name in the rows of the users that match `which`. */
export function nameCompanies(db: Database, which: SQL): void {
  const name = db
    .select({ name: company.name })
    .from(company)
    .where(eq(company.id, user.companyId));
  db.update(user)
    .set({ companyName: sql`(${name})` })
    .where(which)
    .run();
}
