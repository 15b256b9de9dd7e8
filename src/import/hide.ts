/**
 * Makes users private in a snapshot file, without a dataset:
 *
 *     await hideUsers([42], "community.snapshot");
 *
 * ../snapshot/README.md has the steps.
 */
import { eq } from "drizzle-orm";
import { OWN_IDS } from "../domain/records.ts";
import { NameChanges } from "../search/name-index.ts";
import { type Counts, summarizeChanges, writeMeta } from "../snapshot/format/meta.ts";
import { privateUser, user } from "../snapshot/format/schema.ts";
import type { Database } from "../sqlite/driver.ts";
import { openIdMap } from "./id-map.ts";
import { createIds, type Ids } from "./ids.ts";
import { dateTakedowns } from "./takedowns.ts";
import { changeCopy, readOld, type WriteOptions } from "./target.ts";

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
  options: WriteOptions = {},
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
    const id = ids.findUser(given) ?? 0;
    const publicRow = db.select({ id: user.id }).from(user).where(eq(user.id, id)).get();
    const row = publicRow ?? db.select().from(privateUser).where(eq(privateUser.id, id)).get();
    if (!row) missing.push(describeMissing(given, ids));
    else if (!found.has(id)) found.set(id, { id, given, wasPublic: publicRow !== undefined });
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
