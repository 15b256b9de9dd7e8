/** Finds a public user's profile. Private and unknown users are told apart, and nothing more. */
import { desc, eq, sql } from "drizzle-orm";
import { formatTime } from "../domain/time.ts";
import type { User } from "../domain/user.ts";
import { company, privateUser, role, user, userRole } from "./schema.ts";
import type { Sqlite } from "./sqlite.ts";

export type Privacy = "private" | "unknown";

export interface Profiles {
  /** The profile, with `avatar_url` as the dataset has it. */
  find(userId: number): User | Privacy;
  privacyOf(userId: number): Privacy | "public";
}

export function openProfiles({ orm }: Sqlite): Profiles {
  const userId = sql.placeholder("userId");
  const findUser = orm
    .select({
      id: user.id,
      name: user.name,
      avatarUrl: user.avatarUrl,
      createdAt: user.createdAt,
      companyId: company.id,
      companyName: company.name,
      companyRole: user.companyRole,
    })
    .from(user)
    .leftJoin(company, eq(company.id, user.companyId))
    .where(eq(user.id, userId))
    .prepare();
  const listRoles = orm
    .select({ id: role.id, name: role.name, hierarchy: role.hierarchy })
    .from(userRole)
    .innerJoin(role, eq(role.id, userRole.roleId))
    .where(eq(userRole.userId, userId))
    .orderBy(desc(role.hierarchy), role.id)
    .prepare();
  const findPublic = orm.select({ id: user.id }).from(user).where(eq(user.id, userId)).prepare();
  const findPrivate = orm
    .select({ id: privateUser.id })
    .from(privateUser)
    .where(eq(privateUser.id, userId))
    .prepare();

  const withoutProfile = (id: number) => (findPrivate.get({ userId: id }) ? "private" : "unknown");

  return {
    find(id) {
      const row = findUser.get({ userId: id });
      if (!row) return withoutProfile(id);
      const { companyId, companyName, companyRole } = row;
      return {
        id,
        name: row.name,
        avatar_url: row.avatarUrl,
        company:
          companyId === null || companyName === null || companyRole === null
            ? null
            : { id: companyId, name: companyName, role: companyRole },
        roles: listRoles.all({ userId: id }),
        created_at: formatTime(row.createdAt),
      };
    },
    privacyOf: (id) => (findPublic.get({ userId: id }) ? "public" : withoutProfile(id)),
  };
}
