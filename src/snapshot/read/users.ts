/**
 * Reads users as finished JSON: the public profile and the achievements. Private and unknown users are
 * distinguished, and nothing more is said about either.
 */
import { eq, sql } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import type { Achievement } from "../../domain/achievement.ts";
import { compareRoles } from "../../domain/role.ts";
import { formatTime } from "../../domain/time.ts";
import type { Database } from "../../sqlite/driver.ts";
import { finishProfile, parseProfile, parseUnlocks } from "../format/document.ts";
import { achievement, privateUser, role } from "../format/schema.ts";
import { prepareFind } from "./documents.ts";

/** Why there is nothing of a user to read. */
export interface Missing {
  missing: "profile_private" | "user_not_found";
}

export function openUsers(db: Database) {
  const id = sql.placeholder("id");
  const findProfile = prepareFind(db, "profile");
  const findUnlocks = prepareFind(db, "achievements");
  const findPrivate = db.select().from(privateUser).where(eq(privateUser.id, id)).prepare();
  const findRole = db.select().from(role).where(eq(role.id, id)).prepare();
  const findAchievement = db.select().from(achievement).where(eq(achievement.id, id)).prepare();
  const findByIcon = db
    .select()
    .from(achievement)
    .where(eq(achievement.icon, sql.placeholder("icon")))
    .orderBy(achievement.id)
    .limit(1)
    .prepare();

  /** Definitions are few beside the users who have them. Each is read when it is first needed. */
  const definitions = new Map<number, Uint8Array>();
  function definitionOf(id: number): Uint8Array {
    const known = definitions.get(id);
    if (known !== undefined) return known;
    const json = Buffer.from(JSON.stringify(findAchievement.get({ id })));
    definitions.set(id, json);
    return json;
  }

  /** By ids with commas between them: most users have one of a few sets of roles. */
  const roleLists = new LRUCache<string, string>({ max: 1000, memoMethod: readRoles });
  function readRoles(ids: string): string {
    const roles = ids.split(",").map((id) => findRole.get({ id: Number(id) }));
    return JSON.stringify(roles.filter((one) => one !== undefined).sort(compareRoles));
  }

  const rolesOf = (ids: string) => roleLists.memo(ids);

  function missing(id: number): Missing {
    return { missing: findPrivate.get({ id }) ? "profile_private" : "user_not_found" };
  }

  return {
    /** The profile as JSON text; paths in it are completed with `baseUrl`. */
    findProfile(id: number, baseUrl: string): string | Missing {
      const profile = findProfile(id);
      return profile === undefined ? missing(id) : finishProfile(id, profile, baseUrl, rolesOf);
    },

    findName(id: number): string | Missing {
      const profile = findProfile(id);
      return profile === undefined ? missing(id) : parseProfile(profile).name;
    },

    /**
     * The unlocked achievements, newest first, as pieces of the JSON text of a list, in UTF-8: they may
     * have megabytes, which are put together once.
     */
    findAchievements(id: number): Uint8Array[] | Missing {
      const unlocks = findUnlocks(id);
      if (unlocks === undefined) return missing(id);
      const pieces: Uint8Array[] = [];
      for (const [id, tier, unlockedAt] of parseUnlocks(unlocks)) {
        const start = pieces.length === 0 ? "[" : ",";
        pieces.push(
          Buffer.from(`${start}{"achievement":`),
          definitionOf(id),
          Buffer.from(`,"tier":${tier},"unlocked_at":"${formatTime(unlockedAt)}"}`),
        );
      }
      pieces.push(Buffer.from(pieces.length === 0 ? "[]" : "]"));
      return pieces;
    },

    /** The definition with that icon; if several have it, the one with the lowest id. */
    findAchievementByIcon: (icon: string): Achievement | undefined => findByIcon.get({ icon }),
  };
}
