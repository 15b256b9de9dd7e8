/** Summarizes the rows of a database: how many there are, and who is featured. */
import { sql } from "drizzle-orm";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { countTotals, type Totals } from "../format/counts.ts";
import type { Meta } from "../format/meta.ts";
import { achievement, user } from "../format/schema.ts";
import type { Unlock } from "../format/unlocks.ts";
import { Featured } from "./featured.ts";

export type Summary = Totals & Pick<Meta, "featured">;

/**
 * Counts the rows, and finds the featured users. Reads only the users in `among` for that if it is
 * given, which is much faster.
 */
export function summarize(db: Database, among?: readonly number[]): Summary {
  const featured = new Featured();
  let unlocked = 0;
  const pointsOf = readPoints(db);

  for (const { id, achievements } of iterateUsers(db, among)) {
    const unlocks: Unlock[] = JSON.parse(achievements);
    unlocked += unlocks.length;
    featured.add(
      id,
      unlocks.reduce((sum, [id]) => sum + (pointsOf.get(id) ?? 0), 0),
    );
  }

  return { ...countTotals(db, among ? undefined : unlocked), featured: featured.ids() };
}

function readPoints(db: Database): Map<number, number> {
  const definitions = db.select({ id: achievement.id, points: achievement.points });
  return new Map(
    definitions
      .from(achievement)
      .all()
      .map(({ id, points }) => [id, points]),
  );
}

function iterateUsers(db: Database, among: readonly number[] | undefined) {
  const isAmong = sql`${user.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))`;
  const users = db
    .select({ id: user.id, achievements: user.achievements })
    .from(user)
    .where(among && isAmong)
    .orderBy(user.id);
  const values = among ? [JSON.stringify(among)] : [];
  return prepareText(db, users).iterate(...values);
}
