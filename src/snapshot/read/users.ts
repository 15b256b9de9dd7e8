/** Reads users with their achievements. */
import { eq, getTableColumns, gt, sql } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import { compareRoles, type Role, type Stored, type User } from "../../domain/model.ts";
import { lazy } from "../../domain/once.ts";
import { formatTime } from "../../domain/time.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { encodeUnlocks } from "../format/records.ts";
import { achievement, privateUser, role, user } from "../format/schema.ts";

type Missing = { missing: "profile_private" | "user_not_found" };

const id = sql.placeholder("id");

export function userQueries(db: Database) {
  // Prepared when they are first used, because drizzle takes milliseconds for its first queries.
  const statements = lazy(() => prepareForUsers(db));
  /** The JSON of achievement definitions, cached because many users unlock the same ones. */
  const definitions = new Map<number, string>();
  /** The keys are JSON arrays of role ids. Most users have one of a few sets of roles. */
  const roles = lazy(() => new LRUCache({ max: 1000, memoMethod: readRoles }));

  function readRoles(json: string): Role[] {
    const ids: number[] = JSON.parse(json);
    return ids.flatMap((id) => statements().role.get(id) ?? []).sort(compareRoles);
  }

  function definitionOf(id: number): string {
    const known = definitions.get(id);
    if (known !== undefined) return known;
    const json = JSON.stringify(statements().achievement.get(id));
    definitions.set(id, json);
    return json;
  }

  function missing(id: number): Missing {
    const isPrivate = statements().privateUser.get(id);
    return { missing: isPrivate ? "profile_private" : "user_not_found" };
  }

  return {
    findProfile(id: number): Stored<User> | Missing {
      const row = statements().profile.get(id);
      if (!row) return missing(id);

      const { company_id, company_name: name, company_role: role } = row;
      const hasCompany = company_id !== null && name !== null && role !== null;
      return {
        id,
        name: row.name,
        avatar_url: row.avatar_url,
        company: hasCompany ? { id: company_id, name, role } : null,
        roles: roles().memo(row.roles),
        created_at: formatTime(row.created_at),
      };
    },

    findName: (id: number) => statements().profile.get(id)?.name ?? missing(id),

    /** Returns the unlocked achievements, newest first, as a JSON array. */
    findAchievements(id: number): string | Missing {
      const row = statements().unlocks.get(id);
      return row ? encodeUnlocks(JSON.parse(row.achievements), definitionOf) : missing(id);
    },

    /** Lists up to `limit` ids of public users above `after`, in order. */
    listIds: (after: number, limit: number) =>
      statements()
        .ids.all({ after, limit })
        .map(({ id }) => id),

    /** If several achievements have this icon, returns the one with the lowest id. */
    findAchievementByIcon: (icon: string) => statements().byIcon.get(icon) ?? undefined,
  };
}

function prepareForUsers(db: Database) {
  const { achievements, folded, ...profile } = getTableColumns(user);
  const profiles = db.select(profile).from(user).where(eq(user.id, id));
  const unlocks = db.select({ achievements }).from(user).where(eq(user.id, id));
  const privateUsers = db.select().from(privateUser).where(eq(privateUser.id, id));
  const roles = db.select().from(role).where(eq(role.id, id));
  const definitions = db.select().from(achievement).where(eq(achievement.id, id));
  const hasIcon = eq(achievement.icon, sql.placeholder("icon"));
  const icons = db.select().from(achievement).where(hasIcon).orderBy(achievement.id);
  return {
    profile: prepareText(db, profiles),
    ids: db
      .select({ id: user.id })
      .from(user)
      .where(gt(user.id, sql.placeholder("after")))
      .orderBy(user.id)
      .limit(sql.placeholder("limit"))
      .prepare(),
    unlocks: prepareText(db, unlocks),
    privateUser: prepareText(db, privateUsers),
    role: prepareText(db, roles),
    achievement: prepareText(db, definitions),
    byIcon: prepareText(db, icons),
  };
}
