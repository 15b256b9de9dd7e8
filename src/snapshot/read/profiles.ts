/** Reads profiles and achievements. */
import { eq, getTableColumns, sql } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import { compareRoles, completeAvatar, type Role, type User } from "../../domain/model.ts";
import { formatTime } from "../../domain/time.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { achievement, encodeUnlocks, privateUser, role, user } from "../format/schema.ts";
import { openIdPages } from "./id-pages.ts";

export interface Missing {
  missing: "profile_private" | "user_not_found";
}

export function openProfiles(db: Database) {
  const id = sql.placeholder("id");
  const { achievements, ...profile } = getTableColumns(user);
  const readUser = prepareText(db, db.select(profile).from(user).where(eq(user.id, id)));
  const readUnlocks = db.select({ achievements }).from(user).where(eq(user.id, id)).prepare();
  const readPrivate = db.select().from(privateUser).where(eq(privateUser.id, id)).prepare();
  const readRole = db.select().from(role).where(eq(role.id, id)).prepare();
  const readAchievement = db.select().from(achievement).where(eq(achievement.id, id)).prepare();
  const readByIcon = db
    .select()
    .from(achievement)
    .where(eq(achievement.icon, sql.placeholder("icon")))
    .orderBy(achievement.id)
    .limit(1)
    .prepare();

  /** The JSON of achievement definitions, cached because many users unlock the same ones. */
  const definitions = new Map<number, string>();
  function definitionOf(id: number): string {
    const json = definitions.get(id) ?? JSON.stringify(readAchievement.get({ id }));
    definitions.set(id, json);
    return json;
  }

  /** The keys are JSON arrays of role ids. Most users have one of a few sets of roles. */
  const roleLists = new LRUCache<string, Role[]>({ max: 1000, memoMethod: readRoles });
  function readRoles(json: string): Role[] {
    const ids: number[] = JSON.parse(json);
    return ids.flatMap((id) => readRole.get({ id }) ?? []).sort(compareRoles);
  }

  function missing(id: number): Missing {
    return { missing: readPrivate.get({ id }) ? "profile_private" : "user_not_found" };
  }

  return {
    /** If the avatar is only a path, `baseUrl` is prepended. */
    findProfile(id: number, baseUrl: string): User | Missing {
      const row = readUser.get(id);
      if (!row) return missing(id);
      const { company_id, company_name: name, company_role: role } = row;
      const hasCompany = company_id !== null && name !== null && role !== null;
      return {
        id,
        name: row.name,
        avatar_url: completeAvatar(id, row.avatar_url, baseUrl),
        company: hasCompany ? { id: company_id, name, role } : null,
        roles: roleLists.memo(row.roles),
        created_at: formatTime(row.created_at),
      };
    },

    findName: (id: number): string | Missing => readUser.get(id)?.name ?? missing(id),

    /** Returns the unlocked achievements, newest first, as a JSON array. */
    findAchievements(id: number): string | Missing {
      const row = readUnlocks.get({ id });
      return row ? encodeUnlocks(JSON.parse(row.achievements), definitionOf) : missing(id);
    },

    sitemap: openIdPages(db, "user"),

    /** Returns the achievement with this icon, or the one with the lowest id if several have it. */
    findAchievementByIcon: (icon: string) => readByIcon.get({ icon }),
  };
}
