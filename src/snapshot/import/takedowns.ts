/**
 * Remembers the users whom a change file has made private or deleted, so that an import from a
 * source that lags behind does not make them public again. Stores only the id and the time, and
 * only for an hour.
 */
import type { Database } from "../../sqlite/driver.ts";
import { readOld } from "./overwrite-guard.ts";

/** How long a takedown is remembered, and so the longest time for which an import can hold it. */
export const MAX_HOLD_MS = 3_600_000;

/** Forgets expired takedowns. The statements returned begin and end the takedown of a user. */
export function prepareTakedowns({ $client }: Database, nowMs: number) {
  $client.exec(`DELETE FROM takedown WHERE at <= ${nowMs - MAX_HOLD_MS}`);
  return {
    begin: $client.prepare(`INSERT OR REPLACE INTO takedown VALUES (?, ${nowMs})`),
    end: $client.prepare("DELETE FROM takedown WHERE id = ?"),
  };
}

const SELECT = "SELECT id, at, id IN (SELECT id FROM private_user) AS is_private FROM takedown";

/**
 * Keeps the users of recent takedowns in the snapshot at `path` private or deleted, whatever the
 * imported dataset says. Returns for how many users it says otherwise.
 */
export function holdTakedowns(db: Database, path: string, nowMs: number, holdMs = MAX_HOLD_MS) {
  const { $client } = db;
  const takedowns = readOld(path, (old) =>
    old.$client.prepare<Record<"id" | "at" | "is_private", number>>(SELECT).all(),
  );
  const removePublic = $client.prepare("DELETE FROM user WHERE id = ?");
  const removePrivate = $client.prepare("DELETE FROM private_user WHERE id = ?");
  const addPrivate = $client.prepare("INSERT INTO private_user VALUES (?)");
  const add = $client.prepare("INSERT INTO takedown VALUES (?, ?)");
  let held = 0;
  for (const { id, at, is_private } of takedowns ?? []) {
    // At least 0, because the clock may have been set back since.
    const sinceMs = Math.max(nowMs - at, 0);
    if (sinceMs >= Math.min(holdMs, MAX_HOLD_MS)) continue;
    const wasPublic = removePublic.run(id).changes > 0;
    const wasPrivate = removePrivate.run(id).changes > 0;
    if (is_private) addPrivate.run(id);
    add.run(id, nowMs - sinceMs);
    if (wasPublic || wasPrivate !== (is_private === 1)) held++;
  }
  return held;
}
