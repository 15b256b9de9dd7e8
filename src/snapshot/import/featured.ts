/** Chooses the drivers that the start page shows by default. */
import type { Database } from "../../sqlite/driver.ts";
import type { Unlock } from "../format/schema.ts";

const MAX_FEATURED = 12;

/**
 * Returns the ids of the public users with the most achievement points, highest first. Ties go to
 * the lower id. If `among` is given, only those users are read, which is much faster.
 */
export function listFeatured(db: Database, among?: Iterable<number>): number[] {
  const definitions = db.$client.prepare<{ id: number; points: number }>(
    "SELECT id, points FROM achievement",
  );
  const pointsOf = new Map(definitions.all().map(({ id, points }) => [id, points]));
  const users = db.$client.prepare<{ id: number; achievements: string }>(
    `SELECT id, achievements FROM user
      ${among ? "WHERE id IN (SELECT value FROM json_each(?))" : ""} ORDER BY id`,
  );
  const best: { id: number; points: number }[] = [];
  for (const { id, achievements } of users.iterate(
    ...(among ? [JSON.stringify([...among])] : []),
  )) {
    const unlocks: Unlock[] = JSON.parse(achievements);
    const points = unlocks.reduce(
      (sum, [achievement]) => sum + (pointsOf.get(achievement) ?? 0),
      0,
    );
    if (best.length === MAX_FEATURED && points <= (best.at(-1)?.points ?? 0)) continue;
    const place = best.findIndex((one) => one.points < points);
    best.splice(place < 0 ? best.length : place, 0, { id, points });
    best.length = Math.min(best.length, MAX_FEATURED);
  }
  return best.map(({ id }) => id);
}
