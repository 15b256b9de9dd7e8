/** Reads and writes the facts about a snapshot: when and from what it was built, and its counts. */
import { count } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "../../sqlite/driver.ts";
import { boundedText } from "./bounds.ts";
import { InvalidSnapshot } from "./file.ts";
import { achievement, company, meta, privateUser, role, user } from "./schema.ts";

export interface Counts {
  roles: number;
  achievements: number;
  companies: number;
  users: number;
  public_users: number;
}

export interface Meta {
  /** ISO 8601 UTC with seconds. */
  built_at: string;
  /** The same in milliseconds since 1970. The snapshot with the smaller value is the older one. */
  built_at_ms: number;
  /**
   * SHA-256 of the dataset's lines, each followed by a line feed, in hexadecimal. For a dataset in
   * the form that `export` writes, it is the SHA-256 of the file. The line of a private user is
   * reduced to the id, so that nobody can confirm a guess about the rest by its hash. For the same
   * reason it is the SHA-256 of the snapshot's export if --skip-invalid kept only a part of a line.
   * After `apply`, it is the SHA-256 of the old value followed by the SHA-256 of the lines of the
   * change file.
   */
  dataset_sha256: string;
  /** The version of Roadbook that built it. */
  roadbook_version: string;
  counts: Counts;
  /** The ids of up to twelve public users with the most achievement points, highest first. */
  featured: number[];
}

const MAX_VALUE_BYTES = 1000;
const MAX_FACTS = 100;

/** The text that `JSON.stringify` writes for {@link Counts}. */
const COUNTS =
  /^\{"roles":\d{1,15},"achievements":\d{1,15},"companies":\d{1,15},"users":\d{1,15},"public_users":\d{1,15}\}$/;

const FEATURED = /^\[(?:\d{1,16}(?:,\d{1,16}){0,11})?\]$/;

/** Writes the facts, and replaces old ones. */
export function writeMeta(db: Database, facts: Meta): void {
  for (const [key, fact] of Object.entries(facts)) {
    const value = typeof fact === "string" ? fact : JSON.stringify(fact);
    const set = { value };
    db.insert(meta).values({ key, value }).onConflictDoUpdate({ target: meta.key, set }).run();
  }
}

/** Throws an {@link InvalidSnapshot} when a fact is missing or malformed. */
export function readMeta(db: Database): Meta {
  const rows = db
    .select({ key: meta.key, value: boundedText(meta.value, MAX_VALUE_BYTES) })
    .from(meta)
    .limit(MAX_FACTS)
    .all();
  const facts = new Map(rows.map(({ key, value }) => [key, value]));
  const value = (key: keyof Meta, shape: RegExp, missing?: string): string => {
    const found = facts.get(key) ?? missing;
    if (found !== undefined && shape.test(found)) return found;
    throw new InvalidSnapshot(`is damaged: its meta table has no valid ${key}`);
  };
  const built_at = value("built_at", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  return {
    built_at,
    // Snapshots of earlier schemas have only built_at, and no featured drivers.
    built_at_ms: Number(value("built_at_ms", /^\d{1,15}$/, String(Date.parse(built_at)))),
    dataset_sha256: value("dataset_sha256", /^[0-9a-f]{64}$/),
    roadbook_version: value("roadbook_version", /^[\w.+-]+$/),
    counts: JSON.parse(value("counts", COUNTS)),
    featured: JSON.parse(value("featured", FEATURED, "[]")),
  };
}

/** Counts the rows of the tables. */
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
