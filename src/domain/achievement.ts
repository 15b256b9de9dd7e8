/** Achievements: the definition, a user's entry, and the dataset line (whose `kind` is `type`). */
import { type Static, Type } from "@sinclair/typebox";
import { Count, closed, Id, Name, Text, text, UtcTime } from "./schema.ts";

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

/** `tier` is the tier the user has reached; the definition inside has its own. */
export const AchievementEntry = Type.Object({
  achievement: Achievement,
  tier: Count,
  unlocked_at: UtcTime,
});
export type AchievementEntry = Static<typeof AchievementEntry>;

/** The texts are short because the achievements of one user repeat them, up to a thousand times. */
export const AchievementLine = closed({
  type: Type.Literal("achievement"),
  id: Id,
  name: Name,
  description: text(500),
  icon: text(200),
  kind: text(100),
  tier: Count,
  points: Count,
});
export type AchievementLine = Static<typeof AchievementLine>;
