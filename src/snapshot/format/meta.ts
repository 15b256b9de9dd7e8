/**
 * A snapshot's metadata: its build time, how many rows it has, and whom the start page shows.
 */
import { count, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { formatTime } from "../../domain/time.ts";
import { version } from "../../domain/version.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { achievement, company, meta, privateUser, role, type Unlock, user } from "./schema.ts";

type CountName = "roles" | "achievements" | "companies" | "users" | "public_users";
export type Counts = Record<CountName, number>;

export interface Totals {
  counts: Counts;
  /** How many achievements all users together have unlocked. */
  unlocked: number;
}

export interface Meta extends Totals {
  /** The build time in UTC, such as 2024-03-09T17:05:00Z. */
  built_at: string;
  roadbook_version: string;
  /** The ids of the twelve public users with the most achievement points, in that order. */
  featured: number[];
  /** The last mark of the id map with which the snapshot was made; undefined without one. */
  id_map?: string | undefined;
}

/** The metadata except for when, and by which version of Roadbook, a snapshot is written. */
export type Contents = Omit<Meta, "built_at" | "roadbook_version">;

export function writeMeta(db: Database, contents: Contents, builtAtMs: number): void {
  const built_at = formatTime(Math.floor(builtAtMs / 1000));
  const rows = Object.entries({ built_at, roadbook_version: version, ...contents })
    .filter(([, fact]) => fact !== undefined)
    .map(([key, fact]) => ({
      key,
      value: typeof fact === "string" ? fact : JSON.stringify(fact),
    }));
  db.delete(meta).run();
  db.insert(meta).values(rows).run();
}

export function readMeta(db: Database): Meta {
  // As text, because drizzle takes milliseconds to build its first query, and every start reads this.
  const rows = db.values<[key: string, value: string]>("SELECT key, value FROM meta");
  const facts = Object.fromEntries(rows) as Record<keyof Meta, string>;
  return {
    ...facts,
    counts: JSON.parse(facts.counts),
    unlocked: Number(facts.unlocked),
    featured: JSON.parse(facts.featured),
  };
}

function countRows(db: Database): Counts {
  const publicUsers = countOf(db, user);
  return {
    roles: countOf(db, role),
    achievements: countOf(db, achievement),
    companies: countOf(db, company),
    users: publicUsers + countOf(db, privateUser),
    public_users: publicUsers,
  };
}

export function countOf(db: Database, table: SQLiteTable): number {
  return db.select({ rows: count() }).from(table).get()?.rows ?? 0;
}

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
  const counts = countRows(db);
  const { featured } = rankUsers(db, isAnyone ? undefined : [...old.featured, ...users]);
  return { counts, unlocked: old.unlocked + unlocked, featured };
}

/** Counts what the users in `among`, or all, have unlocked, and finds those whom the start page shows. */
function rankUsers(db: Database, among?: readonly number[]): Omit<Summary, "counts"> {
  const { id, points } = achievement;
  const definitions = db.select({ id, points }).from(achievement).all();
  const pointsOf = new Map(definitions.map(({ id, points }) => [id, points]));
  const isAmong =
    among && sql`${user.id} IN (SELECT value FROM json_each(${JSON.stringify(among)}))`;
  const users = db
    .select({ id: user.id, achievements: user.achievements })
    .from(user)
    .where(isAmong)
    .orderBy(user.id);

  const best: { id: number; total: number }[] = [];
  let unlocked = 0;
  for (const row of prepareText(db, users).iterate()) {
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
