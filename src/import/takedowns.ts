/**
 * Remembers takedowns for an hour, so that an import from a source that lags behind does not undo
 * what `apply` or `hide` has made private or deleted. A snapshot has only their ids and times.
 */
import { eq, gt, lte, sql } from "drizzle-orm";
import { MAX_HOLD_MS } from "../domain/limits.ts";
import { privateUser, takedown, user } from "../snapshot/format/schema.ts";
import type { Database } from "../sqlite/driver.ts";

/** How ids can come to mean others while takedowns are held, and nobody hidden is served meanwhile. */
export const HIDE_ELSEWHERE =
  "import into another --to, hide the users of the last hour there, and move it here";

/** `at` is in milliseconds since 1970. A user who is not hidden has been deleted. */
export interface Takedown {
  id: number;
  at: number;
  isHidden: boolean;
}

/** Notes takedowns at `nowMs`, and removes those that have expired. */
export function createTakedowns(db: Database, nowMs: number) {
  const id = sql.placeholder("id");
  const insert = db.insert(takedown).values({ id, at: nowMs }).prepare();
  const remove = db.delete(takedown).where(eq(takedown.id, id)).prepare();
  db.delete(takedown)
    .where(lte(takedown.at, nowMs - MAX_HOLD_MS))
    .run();
  return {
    /** Begins the hour of a user, also of one who has not been imported yet, or begins it again. */
    begin(id: number): void {
      remove.run({ id });
      insert.run({ id });
    },
    end(id: number): void {
      remove.run({ id });
    },
  };
}

/** Lists the takedowns in the snapshot that will be replaced, except those before `holdMs`. */
export function listTakedowns(old: Database, nowMs: number, holdMs = MAX_HOLD_MS): Takedown[] {
  // The clock may have been set back since the takedown.
  const at = sql<number>`min(${takedown.at}, ${nowMs})`;
  const rows = old
    .select({ id: takedown.id, at, hidden: privateUser.id })
    .from(takedown)
    .leftJoin(privateUser, eq(privateUser.id, takedown.id))
    .where(gt(at, nowMs - Math.min(holdMs, MAX_HOLD_MS)))
    .all();
  return rows.map(({ id, at, hidden }) => ({ id, at, isHidden: hidden !== null }));
}

/**
 * Keeps these users private or deleted, whatever the imported dataset says. Returns for how many
 * users it says otherwise.
 */
export function holdTakedowns(db: Database, takedowns: readonly Takedown[]): number {
  let held = 0;
  for (const { id, at, isHidden } of takedowns) {
    const wasPublic = db.delete(user).where(eq(user.id, id)).run().changes > 0;
    const wasPrivate = db.delete(privateUser).where(eq(privateUser.id, id)).run().changes > 0;
    if (isHidden) db.insert(privateUser).values({ id }).run();
    db.insert(takedown).values({ id, at }).run();
    if (wasPublic || wasPrivate !== isHidden) held++;
  }
  return held;
}
