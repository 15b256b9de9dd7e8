/** Lists the achievements of a public user; of anyone else there are none in a snapshot. */
import { desc, eq, sql } from "drizzle-orm";
import type { AchievementEntry } from "../domain/achievement.ts";
import { formatTime } from "../domain/time.ts";
import { achievement, userAchievement } from "./schema.ts";
import type { Sqlite } from "./sqlite.ts";

export interface Achievements {
  /** Newest first. */
  list(userId: number): AchievementEntry[];
}

export function openAchievements({ orm }: Sqlite): Achievements {
  const listUnlocked = orm
    .select({
      id: achievement.id,
      name: achievement.name,
      description: achievement.description,
      icon: achievement.icon,
      type: achievement.kind,
      tier: achievement.tier,
      points: achievement.points,
      tierReached: userAchievement.tier,
      unlockedAt: userAchievement.unlockedAt,
    })
    .from(userAchievement)
    .innerJoin(achievement, eq(achievement.id, userAchievement.achievementId))
    .where(eq(userAchievement.userId, sql.placeholder("userId")))
    .orderBy(desc(userAchievement.unlockedAt), achievement.id)
    .prepare();
  return {
    list: (userId) =>
      listUnlocked.all({ userId }).map(({ tierReached, unlockedAt, ...definition }) => ({
        achievement: definition,
        tier: tierReached,
        unlocked_at: formatTime(unlockedAt),
      })),
  };
}
