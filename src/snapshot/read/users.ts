/**
 * Reads profiles, achievements and the list of public users. For any other user, returns only
 * whether that user is private or unknown.
 */
import { and, eq, gte, lt, min, sql } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import type { Achievement } from "../../domain/model.ts";
import { compareRoles, completeAvatar, type Role, type User } from "../../domain/model.ts";
import { formatTime } from "../../domain/time.ts";
import type { Database } from "../../sqlite/driver.ts";
import { achievement, privateUser, role, type Unlock, user, userName } from "../format/schema.ts";

/**
 * Each page of public users covers this many ranks. A page may have fewer users, because there are
 * gaps between ranks.
 */
const PAGE_RANKS = 10_000;

/** Why a user cannot be read. */
export interface Missing {
  missing: "profile_private" | "user_not_found";
}

export function openUsers(db: Database) {
  const queries = prepareQueries(db);

  /**
   * The JSON of achievement definitions, cached because many users unlock the same achievements.
   */
  const definitions = new Map<number, string>();
  function definitionOf(id: number): string {
    const known = definitions.get(id);
    if (known !== undefined) return known;
    const json = JSON.stringify(queries.achievement.get({ id }));
    definitions.set(id, json);
    return json;
  }

  /** The keys are JSON arrays of role ids. Most users have one of a few sets of roles. */
  const roleLists = new LRUCache<string, Role[]>({ max: 1000, memoMethod: readRoles });
  function readRoles(json: string): Role[] {
    const ids: number[] = JSON.parse(json);
    return ids.flatMap((id) => queries.role.get({ id }) ?? []).sort(compareRoles);
  }

  function missing(id: number): Missing {
    return { missing: queries.privateUser.get({ id }) ? "profile_private" : "user_not_found" };
  }

  return {
    /** If the avatar is only a path, `baseUrl` is prepended. */
    findProfile(id: number, baseUrl: string): User | Missing {
      const row = queries.profile.get({ id });
      if (!row) return missing(id);
      const { companyId, companyName: name, companyRole: role } = row;
      const hasCompany = companyId !== null && name !== null && role !== null;
      return {
        id,
        name: row.name,
        avatar_url: completeAvatar(id, row.avatarUrl, baseUrl),
        company: hasCompany ? { id: companyId, name, role } : null,
        roles: roleLists.memo(row.roles),
        created_at: formatTime(row.createdAt),
      };
    },

    findName: (id: number): string | Missing => queries.profile.get({ id })?.name ?? missing(id),

    /** Returns the unlocked achievements, newest first, as a JSON array. */
    findAchievements(id: number): string | Missing {
      const row = queries.unlocks.get({ id });
      return row ? encodeUnlocks(row.achievements, definitionOf) : missing(id);
    },

    /**
     * Returns the numbers of all pages that have public users. Some page numbers may be missing,
     * because there are gaps between ranks.
     */
    listPages(): number[] {
      const pages: number[] = [];
      for (let page = 0; ; page++) {
        const rank = queries.nextRank.get({ from: page * PAGE_RANKS })?.rank ?? -1;
        // Pages only ever go up, so this ends even if the table is out of order.
        if (rank < page * PAGE_RANKS) return pages;
        page = Math.floor(rank / PAGE_RANKS);
        pages.push(page);
      }
    },

    listIds(page: number): number[] {
      const range = { from: page * PAGE_RANKS, to: (page + 1) * PAGE_RANKS };
      return JSON.parse(queries.idsBetween.get(range)?.ids ?? "[]");
    },

    /**
     * Returns the achievement with this icon, or the one with the lowest id if there are several.
     */
    findAchievementByIcon: (icon: string): Achievement | undefined =>
      queries.achievementByIcon.get({ icon }),
  };
}

function prepareQueries(db: Database) {
  const [id, from, to] = [sql.placeholder("id"), sql.placeholder("from"), sql.placeholder("to")];
  const isUser = eq(user.id, id);
  const selectAchievement = () => db.select().from(achievement);
  return {
    profile: db
      .select({
        name: user.name,
        avatarUrl: user.avatarUrl,
        companyId: user.companyId,
        companyName: user.companyName,
        companyRole: user.companyRole,
        roles: sql<string>`${user.roles}`,
        createdAt: user.createdAt,
      })
      .from(user)
      .where(isUser)
      .prepare(),
    unlocks: db.select({ achievements: user.achievements }).from(user).where(isUser).prepare(),
    privateUser: db.select().from(privateUser).where(eq(privateUser.id, id)).prepare(),
    role: db.select().from(role).where(eq(role.id, id)).prepare(),
    achievement: selectAchievement().where(eq(achievement.id, id)).prepare(),
    achievementByIcon: selectAchievement()
      .where(eq(achievement.icon, sql.placeholder("icon")))
      .orderBy(achievement.id)
      .limit(1)
      .prepare(),
    nextRank: db
      .select({ rank: min(userName.rank) })
      .from(userName)
      .where(gte(userName.rank, from))
      .prepare(),
    // One value, because thousands of rows would take several times as much memory.
    idsBetween: db
      .select({ ids: sql<string>`json_group_array(${userName.id} ORDER BY ${userName.rank})` })
      .from(userName)
      .where(and(gte(userName.rank, from), lt(userName.rank, to)))
      .prepare(),
  };
}

/** Returns the entries of a user as a JSON array, given the JSON of each definition. */
export function encodeUnlocks(unlocks: Unlock[], definitionOf: (id: number) => string): string {
  const entries = unlocks.map(
    ([id, tier, unlockedAt]) =>
      `{"achievement":${definitionOf(id)},"tier":${tier},"unlocked_at":"${formatTime(unlockedAt)}"}`,
  );
  return `[${entries.join(",")}]`;
}
