/**
 * Remembers the users whom a change file has made private or deleted, so that an import from a
 * source that lags behind does not make them public again. Stores only the id and the time, and
 * only for an hour.
 */
import { eq, lte, sql } from "drizzle-orm";
import type { Database } from "../../sqlite/driver.ts";
import { privateUser, takedown, user } from "../format/schema.ts";
import { readOld } from "./overwrite-guard.ts";

/** How long a takedown is remembered, and so the longest time for which an import can hold it. */
export const MAX_HOLD_MS = 3_600_000;

const id = sql.placeholder("id");

/** Forgets expired takedowns. The statements returned begin and end the takedown of a user. */
export function prepareTakedowns(db: Database, nowMs: number) {
  db.delete(takedown)
    .where(lte(takedown.at, nowMs - MAX_HOLD_MS))
    .run();
  const begin = db.insert(takedown).values({ id, at: nowMs });
  return {
    begin: begin.onConflictDoUpdate({ target: takedown.id, set: { at: nowMs } }).prepare(),
    end: db.delete(takedown).where(eq(takedown.id, id)).prepare(),
  };
}

/**
 * Keeps the users of recent takedowns in the snapshot at `path` private or deleted, whatever the
 * imported dataset says. Returns for how many users it says otherwise.
 */
export function holdTakedowns(db: Database, path: string, nowMs: number, holdMs = MAX_HOLD_MS) {
  const takedowns = readOld(path, (old) =>
    old.select().from(takedown).leftJoin(privateUser, eq(privateUser.id, takedown.id)).all(),
  );
  const removePublic = db.delete(user).where(eq(user.id, id)).prepare();
  const removePrivate = db.delete(privateUser).where(eq(privateUser.id, id)).prepare();
  const addPrivate = db.insert(privateUser).values({ id }).prepare();
  const add = db
    .insert(takedown)
    .values({ id, at: sql.placeholder("at") })
    .prepare();
  let held = 0;
  for (const { takedown, private_user } of takedowns ?? []) {
    const { id, at } = takedown;
    // At least 0, because the clock may have been set back since.
    const sinceMs = Math.max(nowMs - at, 0);
    if (sinceMs >= Math.min(holdMs, MAX_HOLD_MS)) continue;
    const wasPublic = removePublic.run({ id }).changes > 0;
    const wasPrivate = removePrivate.run({ id }).changes > 0;
    if (private_user) addPrivate.run({ id });
    add.run({ id, at: nowMs - sinceMs });
    if (wasPublic || wasPrivate !== Boolean(private_user)) held++;
  }
  return held;
}
