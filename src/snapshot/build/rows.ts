/**
 * Writes dataset lines as rows, and holds them to each other: an id comes once, and what a line
 * refers to is there in the end, whatever the order of the lines.
 */
import type { DatasetLine, Fault } from "../../domain/dataset.ts";
import { parseTime } from "../../domain/time.ts";
import type { PublicUserLine } from "../../domain/user.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { LineFault } from "./dataset.ts";

export type Referenced = "role" | "achievement" | "company";

export interface RowWriter {
  /** Writes one line; returns what is wrong with it, if anything. */
  add(line: DatasetLine, number: number): Fault[];
  /** After the last line: the references that lead nowhere, in the order of the lines. */
  finish(): Iterable<LineFault>;
}

export function createRowWriter(db: Sqlite): RowWriter {
  const insert = (table: string, columns: number) =>
    db.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${Array(columns).fill("?").join(", ")})`);
  const addRole = insert("role", 3);
  const addAchievement = insert("achievement", 7);
  const addCompany = insert("company", 3);
  const addUser = insert("user", 6);
  const addPrivateUser = insert("private_user", 1);
  const addUserRole = insert("user_role", 2);
  const addUserAchievement = insert("user_achievement", 4);
  const hasUser = db.prepare("SELECT 1 FROM user WHERE id = ?");
  const hasPrivateUser = db.prepare("SELECT 1 FROM private_user WHERE id = ?");

  // References to what has not come yet wait on disk: in the worst order that is all of them.
  db.exec("CREATE TEMP TABLE pending (line INTEGER, field TEXT, type TEXT, id INTEGER)");
  const addPending = db.prepare("INSERT INTO pending VALUES (?, ?, ?, ?)");
  const known = {
    role: new Set<number>(),
    achievement: new Set<number>(),
    company: new Set<number>(),
  };

  function refer(type: Referenced, id: number, field: string, number: number): void {
    if (!known[type].has(id)) addPending.run(number, field, type, id);
  }

  function addPublicUser(line: PublicUserLine, number: number): Fault[] {
    const { id, name, company, roles = [], achievements = [] } = line;
    const createdAt = parseTime(line.created_at) ?? 0;
    const added = addUser.run(
      id,
      name,
      line.avatar_url,
      createdAt,
      company?.id ?? null,
      company?.role ?? null,
    );
    if (added === 0 || hasPrivateUser.get(id)) return [repeated("user", id)];
    const faults: Fault[] = [];
    if (company) refer("company", company.id, "company.id", number);
    roles.forEach((roleId, index) => {
      const field = `roles[${index}]`;
      if (addUserRole.run(id, roleId) === 0) faults.push(repeated("role", roleId, field));
      refer("role", roleId, field, number);
    });
    achievements.forEach(({ id: achievementId, tier, unlocked_at }, index) => {
      const field = `achievements[${index}].id`;
      const unlockedAt = parseTime(unlocked_at) ?? 0;
      if (addUserAchievement.run(id, achievementId, tier, unlockedAt) === 0) {
        faults.push(repeated("achievement", achievementId, field));
      }
      refer("achievement", achievementId, field, number);
    });
    return faults;
  }

  return {
    add(line, number) {
      const { type, id } = line;
      if (type === "user") {
        if (line.public) return addPublicUser(line, number);
        return addPrivateUser.run(id) === 0 || hasUser.get(id) ? [repeated(type, id)] : [];
      }
      known[type].add(id);
      const added =
        type === "role"
          ? addRole.run(id, line.name, line.hierarchy)
          : type === "company"
            ? addCompany.run(id, line.name, line.member_count)
            : addAchievement.run(
                id,
                line.name,
                line.description,
                line.icon,
                line.kind,
                line.tier,
                line.points,
              );
      return added === 0 ? [repeated(type, id)] : [];
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
    },
  };
}

function repeated(type: string, id: number, field = "id"): Fault {
  return { field, reason: `${type} ${id} is there already` };
}
