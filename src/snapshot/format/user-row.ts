/**
 * Builds a public user's row from a dataset line. The row has everything that a profile shows
 * except the role names, so reading a profile needs no join.
 */

import type { PublicUserLine } from "../../domain/model.ts";
import { parseTime } from "../../domain/time.ts";
import type { Unlock, user } from "./schema.ts";

type UserRow = typeof user.$inferSelect;

/** `companyName` is a parameter because the line has only the company's id. */
export function userRowOf(line: PublicUserLine, companyName: string | null): UserRow {
  const { id, name, avatar_url = null, company, roles = [], achievements = [] } = line;
  const unlocks = achievements.map(
    ({ id, tier, unlocked_at }): Unlock => [id, tier, parseTime(unlocked_at) ?? 0],
  );
  unlocks.sort(([a, , aTime], [b, , bTime]) => bTime - aTime || a - b);
  return {
    id,
    name,
    avatarUrl: avatar_url,
    companyId: company?.id ?? null,
    companyName,
    companyRole: company?.role ?? null,
    roles: roles.toSorted((a, b) => a - b),
    createdAt: parseTime(line.created_at) ?? 0,
    achievements: unlocks,
  };
}
