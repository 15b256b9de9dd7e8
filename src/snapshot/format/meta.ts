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
  /** The build time in UTC and whole seconds, in ISO 8601 format. */
  built_at: string;
  roadbook_version: string;
  counts: Counts;
  /**
   * The ids of the public users with the most achievement points, at most twelve, in descending
   * order of points.
   */
  featured: number[];
}

export function writeMeta(db: Database, facts: Meta): void {
  for (const [key, fact] of Object.entries(facts)) {
    const value = typeof fact === "string" ? fact : JSON.stringify(fact);
    const set = { value };
    db.insert(meta).values({ key, value }).onConflictDoUpdate({ target: meta.key, set }).run();
  }
}

export function readMeta(db: Database): Meta {
  const rows = db.select().from(meta).all();
  const facts = new Map(rows.map(({ key, value }) => [key, value]));
  const value = (key: keyof Meta): string => {
    const found = facts.get(key);
    if (found === undefined) throw new SnapshotError(`is damaged: it has no ${key}`);
    return found;
  };
  return {
    built_at: value("built_at"),
    roadbook_version: value("roadbook_version"),
    counts: JSON.parse(value("counts")),
    featured: JSON.parse(value("featured")),
  };
}

export function countRows(db: Database): Counts {
  const countOf = (table: SQLiteTable) => db.select({ rows: count() }).from(table).get()?.rows ?? 0;
  const publicUsers = countOf(user);
  return {
    roles: countOf(role),
    achievements: countOf(achievement),
    companies: countOf(company),
    users: publicUsers + countOf(privateUser),
    public_users: publicUsers,
  };
}
