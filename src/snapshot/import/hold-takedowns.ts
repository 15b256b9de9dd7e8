/**
 * Holds takedowns: an import from a source that lags behind must not undo what `apply` or `hide` has
 * made private or deleted. forget.ts stores the id and the time.
 */
import { eq, gt, sql } from "drizzle-orm";
import type { Database } from "../../sqlite/driver.ts";
import { privateUser, takedown, user } from "../format/schema.ts";
import { readOld } from "./overwrite-guard.ts";

/** How long a takedown is remembered, and so the longest time for which an import can hold it. */
export const MAX_HOLD_MS = 3_600_000;

/**
 * Keeps the users of recent takedowns in the snapshot at `path` private or deleted, whatever the
 * imported dataset says. Returns for how many users it says otherwise. With another id map, the ids
 * belong to other users, so a takedown is an error.
 */
export function holdTakedowns(
  db: Database,
  path: string,
  nowMs: number,
  holdMs = MAX_HOLD_MS,
  isOtherMap = false,
) {
  // The clock may have been set back since the takedown.
  const at = sql<number>`min(${takedown.at}, ${nowMs})`;
  const takedowns = readOld(path, (old) =>
    old
      .select({ id: takedown.id, at, hidden: privateUser.id })
      .from(takedown)
      .leftJoin(privateUser, eq(privateUser.id, takedown.id))
      .where(gt(at, nowMs - Math.min(holdMs, MAX_HOLD_MS)))
      .all(),
  );
  if (isOtherMap && takedowns && takedowns.length > 0) {
    const problem = "takedowns of the last hour cannot be kept with another id map";
    throw new Error(`${problem}; wait, or import with --hold 0 and hide the users again`);
  }
  let held = 0;
  for (const { id, at, hidden } of takedowns ?? []) {
    const wasPublic = db.delete(user).where(eq(user.id, id)).run().changes > 0;
    const wasPrivate = db.delete(privateUser).where(eq(privateUser.id, id)).run().changes > 0;
    if (hidden !== null) db.insert(privateUser).values({ id }).run();
    db.insert(takedown).values({ id, at }).run();
    if (wasPublic || wasPrivate !== (hidden !== null)) held++;
  }
  return held;
}
