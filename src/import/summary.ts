/** Summarizes the rows of a database: how many there are, and who is featured. */
import { sql } from "drizzle-orm";
import type { Meta } from "../snapshot/format/meta.ts";
import { countRows, type Totals } from "../snapshot/format/meta.ts";
import type { Unlock } from "../snapshot/format/records.ts";
import { achievement, user } from "../snapshot/format/schema.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";
import { Featured } from "./featured.ts";

export type Summary = Totals & Pick<Meta, "featured">;

/** Reads all users. */
export function summarize(db: Database): Summary {
  const featured = new Featured();
  let unlocked = 0;
  for (const { id, unlocks, points } of iterateUsers(db)) {
    unlocked += unlocks.length;
    featured.add(id, points);
  }
  return { counts: countRows(db), unlocked, featured: featured.ids() };
}

/** Finds the featured users. Reads only the users in `among`, if it is given. */
export function findFeatured(db: Database, among?: readonly number[]): number[] {
  const featured = new Featured();
  for (const { id, points } of iterateUsers(db, among)) featured.add(id, points);
  return featured.ids();
}

function* iterateUsers(db: Database, among?: readonly number[]) {
  const isAmong = sql`${user.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))`;
  const users = db
    .select({ id: user.id, achievements: user.achievements })
    .from(user)
    .where(among && isAmong)
    .orderBy(user.id);
  const values = among ? [JSON.stringify(among)] : [];
  const pointsOf = readPoints(db);

  for (const { id, achievements } of prepareText(db, users).iterate(...values)) {
    const unlocks: Unlock[] = JSON.parse(achievements);
    const points = unlocks.reduce((sum, [id]) => sum + (pointsOf.get(id) ?? 0), 0);
    yield { id, unlocks, points };
  }
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
