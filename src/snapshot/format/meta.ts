/** Reads and writes a snapshot's metadata, such as its build time and how many rows it has. */
import { count } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "../../sqlite/driver.ts";
import { achievement, company, meta, privateUser, role, user } from "./schema.ts";
import { SnapshotError } from "./snapshot-error.ts";

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

export function writeMeta(db: Database, facts: Meta): void {
  const rows = Object.entries(facts)
    .filter(([, fact]) => fact !== undefined)
    .map(([key, fact]) => ({
      key,
      value: typeof fact === "string" ? fact : JSON.stringify(fact),
    }));
  db.delete(meta).run();
  db.insert(meta).values(rows).run();
}

export function readMeta(db: Database): Meta {
  // As text, because building a first query with drizzle takes milliseconds of each start.
  const rows = db.values<[key: string, value: string]>("SELECT key, value FROM meta");
  const facts = Object.fromEntries(rows) as Partial<Record<string, string>>;
  const { built_at, roadbook_version, counts, unlocked, featured, id_map } = facts;
  if (!built_at || !roadbook_version || !counts || !unlocked || !featured) {
    throw new SnapshotError("is damaged: its metadata is incomplete");
  }
  return {
    built_at,
    roadbook_version,
    counts: JSON.parse(counts),
    unlocked: Number(unlocked),
    featured: JSON.parse(featured),
    id_map,
  };
}

export function countRows(db: Database): Counts {
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
