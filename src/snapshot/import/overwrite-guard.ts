/**
 * Protects the target of `import` and `apply`: an incomplete dataset must not empty a site or make
 * private users public.
 */
import { count, sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import type { Database } from "../../sqlite/driver.ts";
import type { IdMap, IdMapOptions } from "../../tables/id-map.ts";
import { readMeta, type Totals } from "../format/meta.ts";
import type { ReadOptions } from "./read-dataset.ts";

/** `what` is the kind of file that the command writes, such as "a Roadbook snapshot". */
export function notOverwritten(target: string, what: string): string {
  return `${target} exists and is not ${what}; choose another --to, or overwrite it with --force`;
}

/** How a new snapshot differs from the old one. */
export interface Differences {
  users: Record<"added" | "removed" | "made_private" | "made_public", number>;
  unlocked_achievements: Record<"before" | "after", number>;
}

/** Any import may make this many users public. */
const MAX_REVEALED = 10;

/**
 * Compares a database with the snapshot at `path`, which will be replaced in `target`. Throws an
 * error if most of it would be lost. Returns undefined if the snapshot is missing or damaged.
 */
export function compare(
  db: Database,
  path: string,
  target: string,
  { counts, unlocked }: Totals,
  { allowShrink, allowReveal }: ReadOptions,
): Differences | undefined {
  const before = readOld(path, readMeta);
  if (!before) return undefined;
  const { same, ...made } = countMoves(db, path, target);
  const kept = same + made.made_private + made.made_public;
  const hidden = before.counts.users - before.counts.public_users;
  const mayReveal = allowReveal || made.made_public <= MAX_REVEALED;
  for (const [verb, what, all, left, isAllowed] of [
    ["lose", "users", before.counts.users, counts.users, allowShrink],
    ["lose", "public users", before.counts.public_users, counts.public_users, allowShrink],
    ["lose", "companies", before.counts.companies, counts.companies, allowShrink],
    ["lose", "unlocked achievements", before.unlocked, unlocked, allowShrink],
    ["publish", "private users", hidden, hidden - made.made_public, mayReveal],
  ] as const) {
    if (isAllowed || all - left <= all / 2) continue;
    const share = `${(all - left).toLocaleString("en")} of its ${all.toLocaleString("en")} ${what}`;
    const flag = verb === "lose" ? "--allow-shrink" : "--allow-reveal";
    const advice = `nothing was written (if this is intended, add ${flag})`;
    throw new Error(`${target} would ${verb} ${share}; ${advice}`);
  }
  return {
    users: { added: counts.users - kept, removed: before.counts.users - kept, ...made },
    unlocked_achievements: { before: before.unlocked, after: unlocked },
  };
}

/** Counts how many users are in both snapshots, by what has become of them. */
function countMoves(db: Database, path: string, target: string) {
  const both = (now: string, before: string) => {
    const join = sql.raw(`main.${now} CROSS JOIN old.${before} USING (id)`);
    return db.select({ rows: count() }).from(join).get()?.rows ?? 0;
  };
  try {
    // Stays attached until the database is closed, because a transaction may be open.
    db.run(sql`ATTACH ${path} AS old`);
    const made_private = both("private_user", "user");
    const made_public = both("user", "private_user");
    const same = both("user", "user") + both("private_user", "private_user");
    return { made_private, made_public, same };
  } catch {
    // SQLite refuses further changes once a table of an attached file is damaged.
    throw new Error(`${target} is damaged, so it cannot be compared; delete it and import again`);
  }
}

/** An older copy of an id map would give ids of the old snapshot's users to others. */
export function refuseOlderMap(idMap: IdMap, path: string, target: string, options: IdMapOptions) {
  const last = findUnmappedUser(idMap, path);
  if (last === undefined) return;
  const problem = `${options.idMap} lacks user ${last} of ${target}, so it is an older copy`;
  throw new Error(`${problem}; restore the newest one, or import with --force`);
}

/** Returns the last id in the tables of users that exist, if the map has given out fewer ids. */
export function findUnmappedUser(idMap: IdMap, path: string): number | undefined {
  const lastIn = (table: string) =>
    readOld(path, (old) => old.values<number[]>(sql.raw(`SELECT max(id) FROM ${table}`))[0]?.[0]);
  const last = Math.max(...["user", "private_user", "takedown"].map((name) => lastIn(name) ?? 0));
  return last > idMap.lastUser() ? last : undefined;
}

/** Returns undefined for a missing or damaged snapshot, so that an import can replace it. */
export function readOld<T>(path: string, read: (old: Database) => T): T | undefined {
  let old: Database | undefined;
  try {
    old = sqlite.openImmutable(path);
    return read(old);
  } catch {
    return undefined;
  } finally {
    old?.$client.close(true);
  }
}
