/**
 * Reads users: the public profile and the achievements. Private and unknown users are distinguished, and
 * nothing more is said about either.
 */
import { and, asc, eq, gte, lt, min, sql } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import type { Achievement } from "../../domain/achievement.ts";
import { compareRoles, type Role } from "../../domain/role.ts";
import { formatTime } from "../../domain/time.ts";
import { completeAvatar, type User } from "../../domain/user.ts";
import type { Database } from "../../sqlite/driver.ts";
import { boundedText } from "../format/bounds.ts";
import { achievement, privateUser, role, type Unlock, user, userName } from "../format/schema.ts";

/** A page of the list of all public users has so many ranks, and at most so many users. */
const PAGE_RANKS = 10_000;

/** Why there is nothing of a user to read. */
export interface Missing {
  missing: "profile_private" | "user_not_found";
}

export function openUsers(db: Database) {
  const id = sql.placeholder("id");
  const findUser = db
    .select({
      name: boundedText(user.name),
      avatarUrl: boundedText(user.avatarUrl),
      companyId: user.companyId,
      companyName: boundedText(user.companyName),
      companyRole: boundedText(user.companyRole),
      roles: boundedText(user.roles),
      createdAt: user.createdAt,
    })
    .from(user)
    .where(eq(user.id, id))
    .prepare();
  const findName = db
    .select({ name: boundedText(user.name) })
    .from(user)
    .where(eq(user.id, id))
    .prepare();
  const findUnlocks = db
    .select({ achievements: boundedText(user.achievements) })
    .from(user)
    .where(eq(user.id, id))
    .prepare();
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

  const [from, to] = [sql.placeholder("from"), sql.placeholder("to")];
  const findRank = db
    .select({ rank: min(userName.rank) })
    .from(userName)
    .where(gte(userName.rank, from))
    .prepare();
  const listRanks = db
    .select({ id: userName.id })
    .from(userName)
    .where(and(gte(userName.rank, from), lt(userName.rank, to)))
    .orderBy(asc(userName.rank))
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

  /** By the JSON of their ids: most users have one of a few sets of roles. */
  const roleLists = new LRUCache<string, Role[]>({ max: 1000, memoMethod: readRoles });
  function readRoles(json: string): Role[] {
    const ids: number[] = JSON.parse(json);
    return ids.flatMap((id) => findRole.get({ id }) ?? []).sort(compareRoles);
  }

  function missing(id: number): Missing {
    return { missing: findPrivate.get({ id }) ? "profile_private" : "user_not_found" };
  }

  return {
    /** The avatar's path is completed with `baseUrl`. */
    findProfile(id: number, baseUrl: string): User | Missing {
      const row = findUser.get({ id });
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

    findName: (id: number): string | Missing => findName.get({ id })?.name ?? missing(id),

    /**
     * The unlocked achievements, newest first, as pieces of the JSON text of a list, in UTF-8: they may
     * have megabytes, which are put together once.
     */
    findAchievements(id: number): Uint8Array[] | Missing {
      const row = findUnlocks.get({ id });
      if (!row) return missing(id);
      const unlocks: Unlock[] = JSON.parse(row.achievements);
      const pieces: Uint8Array[] = [];
      for (const [id, tier, unlockedAt] of unlocks) {
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

    /** The numbers of the pages of all public users; ranks have gaps, so some numbers may be missing. */
    listPages(): number[] {
      const pages: number[] = [];
      for (let page = 0; ; page++) {
        const rank = findRank.get({ from: page * PAGE_RANKS })?.rank ?? undefined;
        if (rank === undefined) return pages;
        page = Math.floor(rank / PAGE_RANKS);
        pages.push(page);
      }
    },

    /** The ids of the users on such a page. */
    listIds: (page: number): number[] =>
      listRanks.all({ from: page * PAGE_RANKS, to: (page + 1) * PAGE_RANKS }).map(({ id }) => id),

    /** The definition with that icon; if several have it, the one with the lowest id. */
    findAchievementByIcon: (icon: string): Achievement | undefined => findByIcon.get({ icon }),
  };
}
