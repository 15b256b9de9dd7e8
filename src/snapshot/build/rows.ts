/**
 * Writes dataset lines as rows, and holds them to each other: an id comes once, and what a line
 * refers to is there in the end, whatever the order of the lines.
 */
import { type DatasetLine, parseLine } from "../../domain/dataset.ts";
import { parseTime } from "../../domain/time.ts";
import type { PublicUserLine } from "../../domain/user.ts";
import { hasBit, setBit } from "../../search/bits.ts";
import type { Sqlite, Value } from "../../sqlite/driver.ts";
import type { Bounded } from "../format/bounds.ts";
import {
  listColumn,
  packRoles,
  packUnlocks,
  unpackRoles,
  unpackUnlocks,
} from "../format/user-lists.ts";

/**
 * Ids of private users set one of so many bits; those of public users that find none set are not looked up,
 * which of a million takes 0.5 s. What was there before (in `apply`) is removed before it is added anew.
 */
const PRIVATE_BITS = 2 ** 23;

/** How many definitions a dataset may have; every one of them may be in memory while it is served. */
const definitions = {
  role: { max: 10_000, name: "roles" },
  achievement: { max: 100_000, name: "achievement definitions" },
};
type Defined = keyof typeof definitions;
const isDefined = (type: DatasetLine["type"]): type is Defined => type in definitions;

export type Referenced = "role" | "achievement" | "company";

export function createRowWriter(db: Sqlite) {
  const insertInto = (table: string, columns: number) =>
    db.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${Array(columns).fill("?").join(", ")})`);
  const inserts = {
    role: insertInto("role", 3),
    achievement: insertInto("achievement", 7),
    company: insertInto("company", 3),
    user: insertInto("user", 8),
    privateUser: insertInto("private_user", 1),
  };
  const hasUser = db.prepare("SELECT 1 FROM user WHERE id = ?");
  const hasPrivateUser = db.prepare("SELECT 1 FROM private_user WHERE id = ?");
  const privateBits = new Uint32Array(PRIVATE_BITS / 32);

  // References to what has not come yet wait on disk: in the worst order that is all of them. Not in
  // a temporary table, whose file is in a folder that nobody sweeps.
  db.exec("CREATE TABLE pending (line INTEGER, field TEXT, type TEXT, id INTEGER)");
  const addPending = db.prepare("INSERT INTO pending VALUES (?, ?, ?, ?)");
  /** The ids that lines have defined. */
  const known = {
    role: new Set<number>(),
    achievement: new Set<number>(),
    company: new Set<number>(),
  };

  const lastLines = { role: 0, achievement: 0 };

  function tooMany(type: Defined, line: number) {
    const { max, name } = definitions[type];
    const reason = `a dataset can have at most ${max.toLocaleString("en")} ${name}`;
    return { line, field: "", reason };
  }

  /** Writes the row of a line; returns whether its id was free. */
  function insert(line: DatasetLine): boolean {
    const { type, id } = line;
    if (type !== "user") {
      known[type].add(id);
      return inserts[type].run(...valuesOf(line)).changes > 0;
    }
    if (!line.public) {
      setBit(privateBits, id % PRIVATE_BITS);
      return !hasUser.get(id) && inserts.privateUser.run(id).changes > 0;
    }
    const mayBePrivate = hasBit(privateBits, id % PRIVATE_BITS);
    if (mayBePrivate && hasPrivateUser.get(id)) return false;
    return inserts.user.run(...valuesOf(line)).changes > 0;
  }

  function refer(user: PublicUserLine, number: number): void {
    const { company, roles = [], achievements = [] } = user;
    if (company && !known.company.has(company.id)) {
      addPending.run(number, "company.id", "company", company.id);
    }
    roles.forEach((id, index) => {
      if (!known.role.has(id)) addPending.run(number, `roles[${index}]`, "role", id);
    });
    achievements.forEach(({ id }, index) => {
      if (known.achievement.has(id)) return;
      addPending.run(number, `achievements[${index}].id`, "achievement", id);
    });
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
      if (!insert(line)) return [{ field: "id", reason: `${type} ${id} is there already` }];
      if (type === "user" && line.public) refer(line, number);
      return [];
    },
    *finish() {
      const rows = db.prepare<{ line: number; field: string; type: Referenced; id: number }>(
        `SELECT line, field, type, id FROM pending
          WHERE NOT CASE type
                  WHEN 'role' THEN EXISTS (SELECT 1 FROM role WHERE role.id = pending.id)
                  WHEN 'company' THEN EXISTS (SELECT 1 FROM company WHERE company.id = pending.id)
                  ELSE EXISTS (SELECT 1 FROM achievement WHERE achievement.id = pending.id) END
          ORDER BY line, rowid`,
      );
      for (const { line, field, type, id } of rows.iterate()) {
        yield { line, field, reason: `there is no ${type} ${id}` };
      }
      db.exec("DROP TABLE pending");
      // A change file may add to those that are there.
      for (const type of ["role", "achievement"] as const) {
        const count = db.prepare<{ rows: number }>(`SELECT count(*) AS rows FROM ${type}`).get();
        if (lastLines[type] > 0 && (count?.rows ?? 0) > definitions[type].max) {
          yield tooMany(type, lastLines[type]);
        }
      }
    },
  };
}

/** The columns of a line's row. */
function valuesOf(line: Exclude<DatasetLine, { public: false }>): Value[] {
  const { id, name } = line;
  if (line.type === "role") return [id, name, line.hierarchy];
  if (line.type === "company") return [id, name, line.member_count];
  if (line.type === "achievement") {
    return [id, name, line.description, line.icon, line.kind, line.tier, line.points];
  }
  const { avatar_url = null, company, roles = [], achievements = [] } = line;
  const unlocks = achievements.map(({ id: achievementId, tier, unlocked_at }) => ({
    achievementId,
    tier,
    unlockedAt: parseTime(unlocked_at) ?? 0,
  }));
  return [
    id,
    name,
    avatar_url,
    parseTime(line.created_at) ?? 0,
    company?.id ?? null,
    company?.role ?? null,
    packRoles(roles),
    packUnlocks(unlocks),
  ];
}

/** What the row of each public user refers to, in the order of the ids; a million take a second. */
export function* listReferences(db: Sqlite) {
  const rows = db.prepare<{
    id: number;
    companyId: number | null;
    roles: Bounded;
    unlocks: Bounded;
  }>(
    `SELECT id, company_id AS companyId, ${listColumn("roles")} AS roles,
            ${listColumn("achievements")} AS unlocks
       FROM user ORDER BY id`,
  );
  for (const { id, companyId, roles, unlocks } of rows.iterate()) {
    yield { id, companyId, roles: unpackRoles(roles), unlocks: unpackUnlocks(unlocks) };
  }
}
