/**
 * Schemas for achievements: the definition, an achievement that a user has unlocked, and a dataset
 * line. In the dataset, the field `type` is called `kind`.
 */
import { type Static, Type } from "@sinclair/typebox";
import { boundedText, Count, closedObject, Id, Name, Text, UtcTime } from "./schema.ts";

export const Achievement = Type.Object({
  id: Id,
  name: Name,
  description: Text,
  icon: Text,
  type: Text,
  tier: Count,
  points: Count,
});
export type Achievement = Static<typeof Achievement>;

/**
 * An achievement that a user has unlocked. `tier` is the tier that the user has reached, and
 * `achievement.tier` is the tier in the achievement's definition.
 */
export const AchievementEntry = Type.Object({
  achievement: Achievement,
  tier: Count,
  unlocked_at: UtcTime,
});
export type AchievementEntry = Static<typeof AchievementEntry>;

/**
 * An achievement in a dataset. Its texts must be short, because one response can contain 1,000
 * achievements.
 */
export const AchievementLine = closedObject({
  type: Type.Literal("achievement"),
  id: Id,
  name: Name,
  description: boundedText(500),
  icon: boundedText(200),
  kind: boundedText(100),
  tier: Count,
  points: Count,
});
export type AchievementLine = Static<typeof AchievementLine>;
