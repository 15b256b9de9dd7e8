/** The achievements of a user: as the column `achievements` has them, and as a response does. */
import { formatTime } from "../../domain/time.ts";

/** An entry of the column. `unlockedAt` is in seconds since 1970. */
export type Unlock = [achievementId: number, tier: number, unlockedAt: number];

/** Returns the entries as the JSON array of a response, given the JSON of each definition. */
export function encodeUnlocks(unlocks: Unlock[], definitionOf: (id: number) => string): string {
  let entries = "";
  for (const [id, tier, unlockedAt] of unlocks) {
    if (entries) entries += ",";
    const time = formatTime(unlockedAt);
    entries += `{"achievement":${definitionOf(id)},"tier":${tier},"unlocked_at":"${time}"}`;
  }
  return `[${entries}]`;
}
