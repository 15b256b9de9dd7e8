/** A typical first implementation of three endpoints, with Elysia, drizzle and LIKE or FTS5. */
import { Database } from "bun:sqlite";
import { desc, eq, like, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { Elysia, t } from "elysia";
import { achievement, company, role, user, userAchievement, userRole } from "./tables.ts";

const [path = "", hasTrigrams] = process.argv.slice(2);
const db = drizzle(new Database(path, { readonly: true }));
const params = t.Object({ id: t.Numeric() });

/** FTS5's trigrams speed up LIKE for three or more characters. */
function matches(q: string) {
  const pattern = `%${q}%`;
  if (!hasTrigrams) return like(user.name, pattern);
  return sql`${user.id} IN (SELECT rowid FROM user_trigram WHERE name LIKE ${pattern})`;
}

const app = new Elysia()
  .get(
    "/users/public/:id",
    ({ params: { id }, status }) => {
      const [found] = db
        .select()
        .from(user)
        .leftJoin(company, eq(company.id, user.companyId))
        .where(eq(user.id, id))
        .all();
      if (!found) return status(404, { success: false });
      const roles = db
        .select({ id: role.id, name: role.name, hierarchy: role.hierarchy })
        .from(userRole)
        .innerJoin(role, eq(role.id, userRole.roleId))
        .where(eq(userRole.userId, id))
        .orderBy(desc(role.hierarchy))
        .all();
      const { name, avatarUrl, companyRole, createdAt } = found.user;
      return {
        success: true,
        user: {
          id,
          name,
          avatar_url: avatarUrl,
          company: found.company && { ...found.company, role: companyRole },
          roles,
          created_at: createdAt,
        },
      };
    },
    { params },
  )
  .get(
    "/users/:id/achievements",
    ({ params: { id } }) => {
      const achievements = db
        .select()
        .from(userAchievement)
        .innerJoin(achievement, eq(achievement.id, userAchievement.achievementId))
        .where(eq(userAchievement.userId, id))
        .orderBy(desc(userAchievement.unlockedAt))
        .all()
        .map(({ achievement, user_achievement: { tier, unlockedAt } }) => ({
          achievement,
          tier,
          unlocked_at: unlockedAt,
        }));
      return { success: true, achievements };
    },
    { params },
  )
  .get(
    "/search/users",
    ({ query: { q } }) => ({
      success: true,
      users: db
        .select({ id: user.id, name: user.name, avatar_url: user.avatarUrl, company: company.name })
        .from(user)
        .leftJoin(company, eq(company.id, user.companyId))
        .where(matches(q))
        .orderBy(user.name)
        .limit(10)
        .all(),
    }),
    { query: t.Object({ q: t.String({ minLength: 2 }) }) },
  )
  .listen({ port: 0, hostname: "127.0.0.1" });
process.stdout.write(`roadbook listening on http://127.0.0.1:${app.server?.port}\n`);
