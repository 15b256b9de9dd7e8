/**
 * Writes dataset lines as rows, and holds them to each other: an id comes once, and what a line
 * refers to is there in the end, whatever the order of the lines.
 */
import { count, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type DatasetLine, parseLine } from "../../domain/dataset.ts";
import type { PublicUserLine } from "../../domain/user.ts";
import type { RecordKey } from "../../domain/validation.ts";
import { hasBit, setBit } from "../../search/bits.ts";
import type { Database } from "../../sqlite/driver.ts";
import { achievement, company, privateUser, role, type Unlock, user } from "../format/schema.ts";
import { userRowOf } from "../format/user-row.ts";
import type { LineError } from "./line-errors.ts";

/**
 * Ids of private users set one of so many bits; those of public users that find none set are not looked
 * up, which takes 0.5 s for a million. `apply` removes a user before it adds the new one.
 */
const PRIVATE_BITS = 2 ** 23;

/** How many definitions a dataset may have; every one of them may be in memory while it is served. */
const definitions = {
  role: { table: role, max: 10_000, name: "roles" },
  achievement: { table: achievement, max: 100_000, name: "achievement definitions" },
};
type Defined = keyof typeof definitions;
const isDefined = (type: DatasetLine["type"]): type is Defined => type in definitions;

export type Referenced = "role" | "achievement" | "company";

export function createRowWriter(db: Database) {
  const inserts = {
    role: prepareInsert(db, role),
    achievement: prepareInsert(db, achievement),
    company: prepareInsert(db, company),
    user: prepareInsert(db, user),
    privateUser: prepareInsert(db, privateUser),
  };
  const id = sql.placeholder("id");
  const findUser = db.select({ id: user.id }).from(user).where(eq(user.id, id)).prepare();
  const findPrivateUser = db.select().from(privateUser).where(eq(privateUser.id, id)).prepare();
  const findCompany = db
    .select({ name: company.name })
    .from(company)
    .where(eq(company.id, id))
    .prepare();
  const privateBits = new Uint32Array(PRIVATE_BITS / 32);

  // References to what has not come yet wait on disk: in the worst order that is all of them. Not in
  // a temporary table, whose file is in a folder that nobody sweeps.
  db.$client.exec(
    "CREATE TABLE pending (line INTEGER, field TEXT, type TEXT, id INTEGER, user INTEGER)",
  );
  const addPending = db.$client.prepare("INSERT INTO pending VALUES (?, ?, ?, ?, ?)");
  /** The ids of the definitions that lines have defined, and the names of the companies. */
  const known = { role: new Set<number>(), achievement: new Set<number>() };
  const companyNames = new Map<number, string>();
  const lastLines = { role: 0, achievement: 0 };

  function tooMany(type: Defined, line: number) {
    const { max, name } = definitions[type];
    const reason = `a dataset can have at most ${max.toLocaleString("en")} ${name}`;
    return { line, field: "", reason };
  }

  /** Writes the row of a line; returns whether its id was free. */
  function insert(line: DatasetLine, number: number): boolean {
    const { id } = line;
    switch (line.type) {
      case "role":
        known.role.add(id);
        return inserts.role.run(line).changes > 0;
      case "achievement":
        known.achievement.add(id);
        return inserts.achievement.run({ ...line, type: line.kind }).changes > 0;
      case "company":
        companyNames.set(id, line.name);
        return inserts.company.run({ ...line, memberCount: line.member_count }).changes > 0;
    }
    if (!line.public) {
      setBit(privateBits, id % PRIVATE_BITS);
      return !findUser.get({ id }) && inserts.privateUser.run({ id }).changes > 0;
    }
    const mayBePrivate = hasBit(privateBits, id % PRIVATE_BITS);
    if (mayBePrivate && findPrivateUser.get({ id })) return false;
    return insertUser(line, number);
  }

  function insertUser(line: PublicUserLine, number: number): boolean {
    const { id, company } = line;
    const companyName = company
      ? (companyNames.get(company.id) ?? findCompany.get(company)?.name)
      : undefined;
    const row = userRowOf(line, companyName ?? null);
    if (inserts.user.run({ ...row }).changes === 0) return false;
    if (company && companyName === undefined) {
      addPending.run(number, "company.id", "company", company.id, id);
    }
    line.roles?.forEach((role, index) => {
      if (!known.role.has(role)) addPending.run(number, `roles[${index}]`, "role", role, id);
    });
    line.achievements?.forEach((unlock, index) => {
      if (known.achievement.has(unlock.id)) return;
      addPending.run(number, `achievements[${index}].id`, "achievement", unlock.id, id);
    });
    return true;
  }

  return {
    known,
    parse: parseLine,
    add(line: DatasetLine, number: number) {
      const { type, id } = line;
      if (isDefined(type)) {
        lastLines[type] = number;
        const isFull = known[type].size >= definitions[type].max;
        if (isFull && !known[type].has(id)) return [tooMany(type, number)];
      }
      if (insert(line, number)) return [];
      return [{ field: "id", reason: `duplicate id ${id}`, kind: "duplicate id" }];
    },
    /** The references that lead nowhere, each with its user. */
    *finish(): Generator<LineError & { missing?: RecordKey }> {
      nameCompanies(db, sql`${user.id} IN (SELECT user FROM pending WHERE type = 'company')`);
      const rows = db.$client.prepare<Pending>(
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
      db.$client.exec("DROP TABLE pending");
      // A change file may add to those that are there.
      for (const type of ["role", "achievement"] as const) {
        const { table, max } = definitions[type];
        const line = lastLines[type];
        const rows = db.select({ count: count() }).from(table).get()?.count ?? 0;
        if (line > 0 && rows > max) yield tooMany(type, line);
      }
    },
  };
}

interface Pending {
  line: number;
  field: string;
  type: Referenced;
  id: number;
  user: number;
}

/** An insert of one row, by the names of the columns; a row whose key is there already is left out. */
function prepareInsert<Table extends SQLiteTable>(db: Database, table: Table) {
  const values = Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]);
  return db.insert(table).values(Object.fromEntries(values)).onConflictDoNothing().prepare();
}

/** Gives these users the names of their companies as they are now. */
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

/** What each public user refers to, in the order of the ids. */
export function* listReferences(db: Database) {
  const rows = db.$client.prepare<{
    id: number;
    company: number | null;
    roles: string;
    achievements: string;
  }>("SELECT id, company_id AS company, roles, achievements FROM user ORDER BY id");
  for (const { id, company, roles, achievements } of rows.iterate()) {
    const unlocks: Unlock[] = JSON.parse(achievements);
    const roleIds: number[] = JSON.parse(roles);
    yield {
      id,
      company,
      roles: roleIds,
      achievements: unlocks.map(([achievementId]) => achievementId),
    };
  }
}
