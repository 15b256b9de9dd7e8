/** Reads and writes a snapshot's metadata, such as its build time and row counts. */
import { count } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "../../sqlite/driver.ts";
import { SnapshotError } from "./file.ts";
import { achievement, company, meta, privateUser, role, user } from "./schema.ts";

export interface Counts {
  roles: number;
  achievements: number;
  companies: number;
  users: number;
  public_users: number;
}

export interface Meta {
  /** The build time in UTC, such as 2024-03-09T17:05:00Z. */
  built_at: string;
  roadbook_version: string;
  counts: Counts;
  /** The ids of the twelve public users with the most achievement points, in that order. */
  featured: number[];
}

export function writeMeta(db: Database, facts: Meta): void {
  const rows = Object.entries(facts).map(([key, fact]) => ({
    key,
    value: typeof fact === "string" ? fact : JSON.stringify(fact),
  }));
  db.delete(meta).run();
  db.insert(meta).values(rows).run();
}

export function readMeta(db: Database): Meta {
  const rows = db.select().from(meta).all();
  const facts = Object.fromEntries(rows.map(({ key, value }) => [key, value]));
  const { built_at, roadbook_version, counts, featured } = facts;
  if (built_at && roadbook_version && counts && featured) {
    const parsed = { counts: JSON.parse(counts), featured: JSON.parse(featured) };
    return { built_at, roadbook_version, ...parsed };
  }
  throw new SnapshotError("is damaged: its metadata is incomplete");
}

export function countOf(db: Database, table: SQLiteTable): number {
  return db.select({ rows: count() }).from(table).get()?.rows ?? 0;
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
