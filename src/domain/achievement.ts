/** Achievements: the definition, a user's entry, and the dataset line, where `type` is `kind`. */
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

/** `tier` is the tier that the user has reached. The definition has a `tier` as well. */
export const AchievementEntry = Type.Object({
  achievement: Achievement,
  tier: Count,
  unlocked_at: UtcTime,
});
export type AchievementEntry = Static<typeof AchievementEntry>;

/** The texts are short, because one response may contain 1,000 achievements. */
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
