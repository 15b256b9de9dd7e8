/** Lists the achievements of a public user; of anyone else there are none in a snapshot. */
import type { Achievement, AchievementEntry } from "../../domain/achievement.ts";
import { formatTime } from "../../domain/time.ts";
import type { Sqlite } from "../../sqlite/driver.ts";

export interface Achievements {
  /** Newest first. */
  list(userId: number): AchievementEntry[];
  /** The definition with that icon; of several, the one with the lowest id. */
  findByIcon(icon: string): Achievement | undefined;
}

interface UnlockRow {
  achievement_id: number;
  tier: number;
  unlocked_at: number;
}

export function openAchievements(db: Sqlite): Achievements {
  const listUnlocks = db.prepare<UnlockRow>(
    "SELECT achievement_id, tier, unlocked_at FROM user_achievement WHERE user_id = ?",
  );
  // Definitions are few beside those who unlock them.
  const definitions = new Map(
    db
      .prepare<Achievement>(
        "SELECT id, name, description, icon, kind AS type, tier, points FROM achievement",
      )
      .all()
      .map((definition) => [definition.id, definition]),
  );
  const byIcon = new Map([...definitions.values()].reverse().map((one) => [one.icon, one]));
  return {
    findByIcon: (icon) => byIcon.get(icon),
    list: (userId) =>
      listUnlocks
        .all(userId)
        .sort(newestFirst)
        .flatMap(({ achievement_id, tier, unlocked_at }) => {
          const definition = definitions.get(achievement_id);
          return definition
            ? { achievement: definition, tier, unlocked_at: formatTime(unlocked_at) }
            : [];
        }),
  };
}

function newestFirst(one: UnlockRow, other: UnlockRow): number {
  return other.unlocked_at - one.unlocked_at || one.achievement_id - other.achievement_id;
}
