/**
 * The app that a user would write instead: Elysia, and one drizzle query for each endpoint, with a join and
 * prepared once. No search limit, no ETag, no schemas, and no roles in the profile.
 */
import { Database } from "bun:sqlite";
import { desc, eq, getTableColumns, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { Elysia } from "elysia";
import { achievement, company, user, userAchievement } from "./tables.ts";

const [path = ""] = process.argv.slice(2);
const db = drizzle(new Database(path, { readonly: true }));

const { companyId, companyRole, ...columns } = getTableColumns(user);
const profile = db
  .select({ ...columns, company: { id: company.id, name: company.name, role: companyRole } })
  .from(user)
  .leftJoin(company, eq(company.id, companyId))
  .where(eq(user.id, sql.placeholder("id")))
  .prepare();

const unlocked = db
  .select({
    achievement,
    tier: userAchievement.tier,
    unlocked_at: userAchievement.unlockedAt,
  })
  .from(userAchievement)
  .innerJoin(achievement, eq(achievement.id, userAchievement.achievementId))
  .where(eq(userAchievement.userId, sql.placeholder("id")))
  .orderBy(desc(userAchievement.unlockedAt))
  .prepare();

const app = new Elysia()
  .get("/users/public/:id", ({ params, status }) => {
    const found = profile.get({ id: Number(params.id) });
    return found ? { success: true, user: found } : status(404, { success: false });
  })
  .get("/users/:id/achievements", ({ params }) => {
    return { success: true, achievements: unlocked.all({ id: Number(params.id) }) };
  })
  .listen({ port: 0, hostname: "127.0.0.1" });
console.log(`roadbook listening on http://127.0.0.1:${app.server?.port}`);
