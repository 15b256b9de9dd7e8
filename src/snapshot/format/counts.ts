/** Counts the rows of a snapshot, and the achievements in them. */
import { count, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "../../sqlite/driver.ts";
import { achievement, company, privateUser, role, user } from "./schema.ts";

type CountName = "roles" | "achievements" | "companies" | "users" | "public_users";
export type Counts = Record<CountName, number>;

export interface Totals {
  counts: Counts;
  /** How many achievements all users together have unlocked. */
  unlocked: number;
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

export function countUnlocked(db: Database): number {
  const unlocked = sql<number>`coalesce(sum(json_array_length(${user.achievements})), 0)`;
  return db.select({ unlocked }).from(user).get()?.unlocked ?? 0;
}
