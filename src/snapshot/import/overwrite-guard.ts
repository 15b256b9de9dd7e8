/**
 * Protects the target of `import` and `apply`: an incomplete dataset must not empty a site or make
 * private users public, and a mistyped file name must not overwrite another program's file.
 */
import { count, max, sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import type { Database } from "../../sqlite/driver.ts";
import type { IdMap, IdMapOptions } from "../../tables/id-map.ts";
import { isSnapshot } from "../format/header-trailer.ts";
import { type Counts, readMeta, type Totals } from "../format/meta.ts";
import { privateUser, user } from "../format/schema.ts";
import type { ReadOptions } from "./read-dataset.ts";

/** Throws unless the file is a snapshot, which may have any schema version or be damaged. */
export async function refuseForeign(path: string, target: string): Promise<void> {
  if (await isSnapshot(path)) return;
  throw new Error(notOverwritten(target, "a Roadbook snapshot"));
}

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
  options: ReadOptions,
): Differences | undefined {
  const compared = readOld(path, (old): [Counts, Differences] => {
    // Stays attached until the database is closed, because a transaction is open.
    db.run(sql`ATTACH ${path} AS old`);
    const both = (now: string, before: string) => {
      const join = sql.raw(`main.${now} CROSS JOIN old.${before} USING (id)`);
      return db.select({ rows: count() }).from(join).get()?.rows ?? 0;
    };
    const made_private = both("private_user", "user");
    const made_public = both("user", "private_user");
    const same = both("user", "user") + both("private_user", "private_user");
    const before = readMeta(old);
    const added = counts.users - same - made_private - made_public;
    const removed = before.counts.users - same - made_private - made_public;
    const unlocked_achievements = { before: before.unlocked, after: unlocked };
    const users = { added, removed, made_private, made_public };
    return [before.counts, { users, unlocked_achievements }];
  });
  if (!compared) return undefined;
  const [before, differences] = compared;
  const { users, unlocked_achievements } = differences;
  const hidden = before.users - before.public_users;
  const allowReveal = options.allowReveal || users.made_public <= MAX_REVEALED;
  for (const [verb, what, all, left] of [
    ["lose", "users", before.users, counts.users],
    ["lose", "public users", before.public_users, counts.public_users],
    ["lose", "companies", before.companies, counts.companies],
    ["lose", "unlocked achievements", unlocked_achievements.before, unlocked],
    ["publish", "private users", hidden, hidden - users.made_public],
  ] as const) {
    const [isAllowed, flag] =
      verb === "lose" ? [options.allowShrink, "--allow-shrink"] : [allowReveal, "--allow-reveal"];
    if (isAllowed || all - left <= all / 2) continue;
    const share = `${(all - left).toLocaleString("en")} of its ${all.toLocaleString("en")} ${what}`;
    const advice = `nothing was written (if this is intended, add ${flag})`;
    throw new Error(`${target} would ${verb} ${share}; ${advice}`);
  }
  return differences;
}

/** An older copy of an id map would give ids of the old snapshot's users to others. */
export function refuseOlderMap(idMap: IdMap, path: string, target: string, options: IdMapOptions) {
  const last = readOld(path, (old) => {
    const lastOf = (table: typeof user | typeof privateUser) =>
      old
        .select({ id: max(table.id) })
        .from(table)
        .get()?.id ?? 0;
    return Math.max(lastOf(user), lastOf(privateUser));
  });
  if (last === undefined || last <= idMap.lastUser()) return;
  const problem = `${options.idMap} lacks user ${last} of ${target}, so it is an older copy`;
  throw new Error(`${problem}; restore the newest one, or import with --force`);
}

/** Returns undefined for a missing or damaged snapshot, so that an import can replace it. */
export function readOld<T>(path: string, read: (old: Database) => T): T | undefined {
  try {
    const old = sqlite.openImmutable(path);
    try {
      return read(old);
    } finally {
      old.$client.close(true);
    }
  } catch {
    return undefined;
  }
}
