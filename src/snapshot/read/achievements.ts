/** Lists the achievements of a public user. */
import type { Achievement, AchievementEntry } from "../../domain/achievement.ts";
import { formatTime } from "../../domain/time.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { unpackUnlocks } from "../format/user-lists.ts";
import { openPrivacy, type Privacy } from "./users.ts";

export interface Achievements {
  /** Newest first. */
  list(userId: number): AchievementEntry[] | Privacy;
  /** The definition with that icon; of several, the one with the lowest id. */
  findByIcon(icon: string): Achievement | undefined;
}

export function openAchievements(db: Sqlite): Achievements {
  const findUser = db.prepare<{ achievements: Uint8Array | null }>(
    "SELECT achievements FROM user WHERE id = ?",
  );
  const withoutProfile = openPrivacy(db);
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
    list(userId) {
      const user = findUser.get(userId);
      if (!user) return withoutProfile(userId);
      return unpackUnlocks(user.achievements).flatMap(({ achievementId, tier, unlockedAt }) => {
        const definition = definitions.get(achievementId);
        return definition
          ? { achievement: definition, tier, unlocked_at: formatTime(unlockedAt) }
          : [];
      });
    },
  };
}
