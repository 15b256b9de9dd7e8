/** Counts the rows of a snapshot, and finds the users whom the start page shows. */
import { sql } from "drizzle-orm";
import { countRows, type Meta } from "../snapshot/format/meta.ts";
import type { Unlock } from "../snapshot/format/records.ts";
import { achievement, user } from "../snapshot/format/schema.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";

export type Summary = Pick<Meta, "counts" | "unlocked" | "featured">;

/** The changes since an old summary was made. */
interface RecordChanges {
  /** The ids of the users who have changed. */
  users: readonly number[];
  /** Whether an achievement may have other points. */
  hasAchievement: boolean;
  /** How many more achievements are unlocked. */
  unlocked: number;
}

/** The start page shows the users with the most achievement points, unless an operator names others. */
const MAX_FEATURED = 12;

/** Reads all users. */
export function summarize(db: Database): Summary {
  return { counts: countRows(db), ...rankUsers(db) };
}

/** Like {@link summarize}. Reads all users only if anyone can be featured. */
export function summarizeChanges(
  db: Database,
  old: Summary,
  { users, hasAchievement, unlocked }: RecordChanges,
): Summary {
  const changed = new Set(users);
  const isAnyone = hasAchievement || old.featured.some((id) => changed.has(id));
  const { featured } = rankUsers(db, isAnyone ? undefined : [...old.featured, ...users]);
  return { counts: countRows(db), unlocked: old.unlocked + unlocked, featured };
}

/** Reads only the users in `among`, if it is given. */
function rankUsers(db: Database, among?: readonly number[]): Omit<Summary, "counts"> {
  const { id, points } = achievement;
  const definitions = db.select({ id, points }).from(achievement).all();
  const pointsOf = new Map(definitions.map(({ id, points }) => [id, points]));
  const isAmong = sql`${user.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))`;
  const users = db
    .select({ id: user.id, achievements: user.achievements })
    .from(user)
    .where(among && isAmong)
    .orderBy(user.id);

  const best: { id: number; total: number }[] = [];
  let unlocked = 0;
  for (const row of prepareText(db, users).iterate(...(among ? [JSON.stringify(among)] : []))) {
    const unlocks: Unlock[] = JSON.parse(row.achievements);
    unlocked += unlocks.length;

    const total = unlocks.reduce((sum, [id]) => sum + (pointsOf.get(id) ?? 0), 0);
    // A tie goes to the lower id, which comes first.
    if (best.length === MAX_FEATURED && total <= (best.at(-1)?.total ?? 0)) continue;
    best.push({ id: row.id, total });
    best.sort((a, b) => b.total - a.total).splice(MAX_FEATURED);
  }
  return { unlocked, featured: best.map(({ id }) => id) };
}
