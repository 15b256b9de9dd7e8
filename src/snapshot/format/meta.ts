/** Reads and writes a snapshot's metadata, such as its build time, row counts and dataset hash. */
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
  /** The build time in UTC and whole seconds, in ISO 8601 format. */
  built_at: string;
  /** The build time in milliseconds since 1970. Decides which of two snapshots is older. */
  built_at_ms: number;
  /**
   * The hexadecimal SHA-256 of the dataset's lines, each followed by a line feed. For a file that
   * `export` wrote, this is the file's SHA-256. A private user's line is reduced to the id first,
   * so that nobody can use the hash to confirm a guess about the other fields. For the same reason,
   * if --skip-invalid kept only a part of a line, the value is the SHA-256 of the snapshot's
   * export. `apply` sets the value to the SHA-256 of two hexadecimal hashes, one after the other:
   * the old value and the SHA-256 of the change file's lines.
   */
  dataset_sha256: string;
  /** The version of Roadbook that built the snapshot. */
  roadbook_version: string;
  counts: Counts;
  /**
   * The ids of the public users with the most achievement points, at most twelve, in descending
   * order of points.
   */
  featured: number[];
}

const MAX_VALUE_BYTES = 1000;
const MAX_FACTS = 100;

/** Matches the text that `JSON.stringify` writes for {@link Counts}. */
const COUNTS =
  /^\{"roles":\d{1,15},"achievements":\d{1,15},"companies":\d{1,15},"users":\d{1,15},"public_users":\d{1,15}\}$/;

const FEATURED = /^\[(?:\d{1,16}(?:,\d{1,16}){0,11})?\]$/;

/** Writes the metadata and replaces any old values. */
export function writeMeta(db: Database, facts: Meta): void {
  for (const [key, fact] of Object.entries(facts)) {
    const value = typeof fact === "string" ? fact : JSON.stringify(fact);
    const set = { value };
    db.insert(meta).values({ key, value }).onConflictDoUpdate({ target: meta.key, set }).run();
  }
}

/** Reads the metadata. Throws an {@link InvalidSnapshot} if a value is missing or malformed. */
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
    // Snapshots with an earlier schema version have neither built_at_ms nor featured.
    built_at_ms: Number(value("built_at_ms", /^\d{1,15}$/, String(Date.parse(built_at)))),
    dataset_sha256: value("dataset_sha256", /^[0-9a-f]{64}$/),
    roadbook_version: value("roadbook_version", /^[\w.+-]+$/),
    counts: JSON.parse(value("counts", COUNTS)),
    featured: JSON.parse(value("featured", FEATURED, "[]")),
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
