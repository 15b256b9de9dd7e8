/**
 * Takedowns: makes users private in a snapshot file, without a dataset, and keeps an import from a source
 * that lags behind from undoing for an hour what this or a change file has made private or deleted. A
 * snapshot has only the ids of these users and the times.
 *
 *     await hideUsers([42], "community.snapshot");
 *
 * The way of a takedown:
 *
 * | file | what happens there |
 * |---|---|
 * | files/replace.ts | the lock is taken |
 * | target.ts | the snapshot is copied, and the copy verified and opened |
 * | id-map.ts | a key becomes a number, if the snapshot was made with an id map |
 * | takedowns.ts | the row of the user is deleted, and the id added to `private_user` |
 * | search/name-index.ts | the name is removed from the index |
 * | takedowns.ts | the time is noted, to which imports keep for an hour |
 * | snapshot/format/meta.ts | the users are counted again |
 * | snapshot/format/seal.ts | nothing of the user is left in unused bytes; the checksum is added |
 * | files/replace.ts | the copy is flushed, and replaces the snapshot |
 */
import { eq, sql } from "drizzle-orm";
import { OWN_IDS } from "../domain/record-reader.ts";
import { NameChanges } from "../search/name-index.ts";
import { type Counts, summarizeChanges, writeMeta } from "../snapshot/format/meta.ts";
import { privateUser, user } from "../snapshot/format/schema.ts";
import type { Database } from "../sqlite/driver.ts";
import { openIdMap } from "./id-map.ts";
import { createIds, type Ids } from "./ids.ts";
import { type Hold, MAX_HOLD_MS, readOld, whereHeld } from "./old-snapshot.ts";
import type { HideOptions } from "./options.ts";
import { changeCopy } from "./target.ts";

/** A user whom `hideUsers` made private or found private. */
interface HiddenUser {
  /** The id in the snapshot. */
  id: number;
  /** The id as it was given, which may be a key of the id map. */
  given: number | string;
  wasPublic: boolean;
}

/** The report on a snapshot in which users have been hidden. */
interface HideReport {
  sha256: string;
  counts: Counts;
  found: HiddenUser[];
}

/**
 * Makes users private in the snapshot file `target`, and reports which were public before. Rejects if
 * one of them does not exist. An import keeps to this for an hour, even for those already private.
 */
export function hideUsers(
  given: readonly (number | string)[],
  target: string,
  options: HideOptions = {},
): Promise<HideReport> {
  const { builtAtMs = Date.now() } = options;
  return changeCopy(target, options, async (db) => {
    const old = readOld(db, target, { nowMs: builtAtMs });
    using map = await openIdMap(options.idMap, { ...options, readsOnly: true });
    const ids = createIds(OWN_IDS, old, map);
    const found = findUsers(db, given, ids, target);

    const users = found.map(({ id }) => id);
    const names = new NameChanges(db.$client);
    let unlocked = 0;
    for (const id of users) {
      names.note("user", id);
      const [hidden] = db.delete(user).where(eq(user.id, id)).returning().all();
      if (hidden) unlocked -= JSON.parse(hidden.achievements).length;
      db.insert(privateUser).values({ id }).onConflictDoNothing().run();
    }
    names.finish();
    dateTakedowns(db, users, builtAtMs);

    const summary = summarizeChanges(db, old, { users, hasAchievement: false, unlocked });
    writeMeta(db, { ...summary, id_map: old.id_map }, builtAtMs);
    return { counts: summary.counts, found };
  });
}

/** Finds each user once. Throws unless all of them are in the snapshot. */
function findUsers(
  db: Database,
  all: readonly (number | string)[],
  ids: Ids,
  target: string,
): HiddenUser[] {
  const found = new Map<number, HiddenUser>();
  const missing: string[] = [];
  for (const given of all) {
    const id = ids.find("user", given) ?? 0;
    const wasPublic = db.select({ id: user.id }).from(user).where(eq(user.id, id)).get();
    const exists = wasPublic ?? db.select().from(privateUser).where(eq(privateUser.id, id)).get();
    if (!exists) missing.push(describeMissing(given, ids));
    else if (!found.has(id)) found.set(id, { id, given, wasPublic: wasPublic !== undefined });
  }

  if (missing.length === 0) return [...found.values()];
  throw new Error(`not found in ${target}: ${missing.join(", ")}; nothing was written`);
}

/**
 * Names a user who is missing from the id map. If `given` is the number of a key there, as in the address
 * of a page, adds that key. A key that is no number becomes NaN.
 */
function describeMissing(given: number | string, ids: Ids): string {
  const id = Number(given);
  const key = Number.isSafeInteger(id) ? ids.inSource({ type: "user", id }) : id;
  return typeof key === "string"
    ? `user ${given} (number ${given} has the key ${key})`
    : `user ${given}`;
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
