/**
 * Takedowns: `apply` and `hide` date them, and an import keeps to them for an hour, because its source may
 * lag behind. ../snapshot/README.md has the rules.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../sqlite/driver.ts";

/** How an operator can give ids another meaning while takedowns are held, without serving a hidden user. */
export const HIDE_ELSEWHERE =
  "import into another --to, hide the users of the last hour there, and move it here";

/** How long a takedown is remembered, and so the longest time for which an import can hold it. */
export const MAX_HOLD_MS = 3_600_000;

/** How long an import keeps to a takedown, and at what time. */
export interface Hold {
  nowMs: number;
  holdMs?: number | undefined;
}

/** The condition for a takedown. The clock may have been set back since. */
export function whereHeld({ nowMs, holdMs = MAX_HOLD_MS }: Hold): SQL {
  return sql`min(at, ${nowMs}) > ${nowMs - Math.min(holdMs, MAX_HOLD_MS)}`;
}

/**
 * Begins the hour of those changed users who are not public any more, or begins it again, and ends it
 * for those who are. Removes takedowns that have expired.
 */
export function dateTakedowns(db: Database, changedUsers: readonly number[], nowMs: number): void {
  const changed = sql`SELECT value FROM json_each(${JSON.stringify(changedUsers)})`;
  db.run(sql`DELETE FROM takedown WHERE at <= ${nowMs - MAX_HOLD_MS} OR id IN (${changed})`);
  db.run(sql`INSERT INTO takedown (id, at)
    SELECT value, ${nowMs} FROM (${changed}) WHERE value NOT IN (SELECT id FROM user)`);
}

/**
 * Keeps the users private or deleted whose takedowns the attached snapshot `old` holds, whatever the
 * imported dataset says. Returns for how many users it says otherwise.
 */
export function holdTakedowns(db: Database, hold: Hold): number {
  db.run(sql`INSERT INTO main.takedown (id, at)
    SELECT id, min(at, ${hold.nowMs}) FROM old.takedown WHERE ${whereHeld(hold)}`);
  const [row] = db.values<[held: number]>(sql`SELECT count(*) FROM main.takedown WHERE
    id IN (SELECT id FROM main.user)
    OR (id IN (SELECT id FROM main.private_user)) <> (id IN (SELECT id FROM old.private_user))`);

  const held = sql`(SELECT id FROM main.takedown)`;
  db.run(sql`DELETE FROM main.user WHERE id IN ${held}`);
  db.run(sql`DELETE FROM main.private_user WHERE id IN ${held}`);
  db.run(sql`INSERT INTO main.private_user SELECT id FROM old.private_user WHERE id IN ${held}`);
  return row?.[0] ?? 0;
}
