/** Reads profiles and achievements. */
import { LRUCache } from "lru-cache";
import {
  type Achievement,
  compareRoles,
  completeAvatar,
  type Role,
  type User,
} from "../../domain/model.ts";
import { formatTime } from "../../domain/time.ts";
import type { Database } from "../../sqlite/driver.ts";
import type { Unlock } from "../format/schema.ts";
import { openPages } from "./pages.ts";

export interface Missing {
  missing: "profile_private" | "user_not_found";
}

interface UserRow {
  name: string;
  avatar_url: string | null;
  company_id: number | null;
  /** Null without a company, as is the role. */
  company_name: string;
  company_role: string;
  /** A JSON array of ids. */
  roles: string;
  created_at: number;
}

/** Not written with drizzle, which takes 1.5 times as long to read a profile. */
export function openUsers({ $client }: Database) {
  const readUser = $client.prepare<UserRow>(
    `SELECT name, avatar_url, company_id, company_name, company_role, roles, created_at
      FROM user WHERE id = ?`,
  );
  const readUnlocks = $client.prepare<{ achievements: string }>(
    "SELECT achievements FROM user WHERE id = ?",
  );
  const readPrivate = $client.prepare("SELECT id FROM private_user WHERE id = ?");
  const readRole = $client.prepare<Role>("SELECT id, name, hierarchy FROM role WHERE id = ?");
  const selectAchievement =
    "SELECT id, name, description, icon, type, tier, points FROM achievement";
  const readAchievement = $client.prepare<Achievement>(`${selectAchievement} WHERE id = ?`);
  const readByIcon = $client.prepare<Achievement>(
    `${selectAchievement} WHERE icon = ? ORDER BY id LIMIT 1`,
  );
  /** The JSON of achievement definitions, cached because many users unlock the same ones. */
  const definitions = new Map<number, string>();
  function definitionOf(id: number): string {
    const json = definitions.get(id) ?? JSON.stringify(readAchievement.get(id));
    definitions.set(id, json);
    return json;
  }

  /** The keys are JSON arrays of role ids. Most users have one of a few sets of roles. */
  const roleLists = new LRUCache<string, Role[]>({ max: 1000, memoMethod: readRoles });
  function readRoles(json: string): Role[] {
    const ids: number[] = JSON.parse(json);
    return ids.flatMap((id) => readRole.get(id) ?? []).sort(compareRoles);
  }

  function missing(id: number): Missing {
    return { missing: readPrivate.get(id) ? "profile_private" : "user_not_found" };
  }

  return {
    /** If the avatar is only a path, `baseUrl` is prepended. */
    findProfile(id: number, baseUrl: string): User | Missing {
      const row = readUser.get(id);
      if (!row) return missing(id);
      const { company_id, company_name, company_role } = row;
      return {
        id,
        name: row.name,
        avatar_url: completeAvatar(id, row.avatar_url, baseUrl),
        company:
          company_id === null ? null : { id: company_id, name: company_name, role: company_role },
        roles: roleLists.memo(row.roles),
        created_at: formatTime(row.created_at),
      };
    },

    findName: (id: number): string | Missing => readUser.get(id)?.name ?? missing(id),

    /** Returns the unlocked achievements, newest first, as a JSON array. */
    findAchievements(id: number): string | Missing {
      const row = readUnlocks.get(id);
      return row ? encodeUnlocks(JSON.parse(row.achievements), definitionOf) : missing(id);
    },

    sitemap: openPages($client, "user"),

    /** Returns the achievement with this icon, or the one with the lowest id if several have it. */
    findAchievementByIcon: (icon: string) => readByIcon.get(icon) ?? undefined,
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
