/**
 * What is read of a user: the public profile and the achievements. Private and unknown users are
 * distinguished, and nothing more.
 * Statements without joins: in SQLite under Bun a join of two rows costs 2.5 µs, two reads 0.6.
 */
import type { Achievement, AchievementEntry } from "../../domain/achievement.ts";
import { compareRoles, type Role } from "../../domain/role.ts";
import { formatTime } from "../../domain/time.ts";
import { drawnAvatarPath, type User } from "../../domain/user.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { Bounded } from "../format/bounds.ts";
import { listColumn, unpackRoles, unpackUnlocks } from "../format/user-lists.ts";

type Missing = "profile_private" | "user_not_found";

interface UserRow {
  name: string;
  avatar_url: string | null;
  created_at: number;
  company_id: number | null;
  company_role: string | null;
  roles: Bounded;
}

export function openUsers(db: Sqlite) {
  const findUser = db.prepare<UserRow>(
    `SELECT name, avatar_url, created_at, company_id, company_role, ${listColumn("roles")} AS roles
       FROM user WHERE id = ?`,
  );
  const findUnlocks = db.prepare<{ achievements: Bounded }>(
    `SELECT ${listColumn("achievements")} AS achievements FROM user WHERE id = ?`,
  );
  const findPrivate = db.prepare("SELECT 1 FROM private_user WHERE id = ?");
  const findCompany = db.prepare<{ name: string }>("SELECT name FROM company WHERE id = ?");
  const findRole = openById<Role>(db, "SELECT id, name, hierarchy FROM role WHERE id = ?");
  const selectDefinition =
    "SELECT id, name, description, icon, kind AS type, tier, points FROM achievement";
  const findDefinition = openById<Achievement>(db, `${selectDefinition} WHERE id = ?`);
  const findByIcon = db.prepare<Achievement>(
    `${selectDefinition} WHERE icon = ? ORDER BY id LIMIT 1`,
  );

  /** Why there is no public user of an id. */
  const missing = (id: number): Missing =>
    findPrivate.get(id) ? "profile_private" : "user_not_found";

  return {
    /** The profile; `avatar_url` may be a path. */
    find(id: number): User | Missing {
      const row = findUser.get(id);
      if (!row) return missing(id);
      const { name, avatar_url, created_at, company_id, company_role } = row;
      const company = company_id === null ? undefined : findCompany.get(company_id);
      return {
        id,
        name,
        avatar_url: avatar_url ?? drawnAvatarPath(id),
        company:
          company && company_id !== null && company_role !== null
            ? { id: company_id, name: company.name, role: company_role }
            : null,
        roles: unpackRoles(row.roles)
          .flatMap((role) => findRole(role) ?? [])
          .sort(compareRoles),
        created_at: formatTime(created_at),
      };
    },

    /** Newest first. */
    listAchievements(userId: number): AchievementEntry[] | Missing {
      const user = findUnlocks.get(userId);
      if (!user) return missing(userId);
      return unpackUnlocks(user.achievements).flatMap(({ achievementId, tier, unlockedAt }) => {
        const achievement = findDefinition(achievementId);
        return achievement ? { achievement, tier, unlocked_at: formatTime(unlockedAt) } : [];
      });
    },

    /** The definition with that icon; of several, the one with the lowest id. */
    findAchievementByIcon: (icon: string): Achievement | undefined => findByIcon.get(icon),
  };
}

/** Rows by id, each read when it is first needed: all at once, they would hold up requests. */
function openById<Row>(db: Sqlite, sql: string): (id: number) => Row | undefined {
  const find = db.prepare<Row>(sql);
  const known = new Map<number, Row>();
  return (id) => {
    const row = known.get(id) ?? find.get(id);
    if (row) known.set(id, row);
    return row;
  };
}
