/** The facts a snapshot keeps of itself: when and from what it was built, and how much is in it. */
import type { Sqlite } from "../../sqlite/driver.ts";
import { bounded } from "./bounds.ts";
import { InvalidSnapshot } from "./file.ts";

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
  /**
   * SHA-256 of the dataset's text, decompressed, in hexadecimal. Each change file that is applied
   * makes it the SHA-256 of the one before and of the changes' text, both in hexadecimal.
   */
  dataset_sha256: string;
  /** The Roadbook that built it. */
  roadbook_version: string;
  counts: Counts;
}

const MAX_VALUE_BYTES = 1000;

/** As `JSON.stringify` writes them. */
const COUNTS =
  /^\{"roles":\d{1,15},"achievements":\d{1,15},"companies":\d{1,15},"users":\d{1,15},"public_users":\d{1,15}\}$/;

/** Writes the facts of `meta` in the place of any that are there. */
export function writeMeta(db: Sqlite, meta: Meta): void {
  const write = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)");
  for (const [key, value] of Object.entries(meta)) {
    write.run(key, typeof value === "string" ? value : JSON.stringify(value));
  }
}

/** Throws an {@link InvalidSnapshot} when they are not facts as {@link writeMeta} writes them. */
export function readMeta(db: Sqlite): Meta {
  const find = db.prepare<{ value: string | 0 }>(
    `SELECT ${bounded("value", MAX_VALUE_BYTES)} AS value FROM meta WHERE key = ?`,
  );
  const value = (key: keyof Meta, shape: RegExp): string => {
    const found = find.get(key)?.value;
    if (typeof found === "string" && shape.test(found)) return found;
    throw new InvalidSnapshot(`is damaged: its meta table has no ${key} that can be read`);
  };
  return {
    built_at: value("built_at", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    dataset_sha256: value("dataset_sha256", /^[0-9a-f]{64}$/),
    roadbook_version: value("roadbook_version", /^[\w.+-]+$/),
    counts: JSON.parse(value("counts", COUNTS)),
  };
}

/** Counts what is in the tables. */
export function countRows(db: Sqlite): Counts {
  const count = (name: string) =>
    db.prepare<{ n: number }>(`SELECT count(*) AS n FROM ${name}`).get()?.n ?? 0;
  const publicUsers = count("user");
  return {
    roles: count("role"),
    achievements: count("achievement"),
    companies: count("company"),
    users: publicUsers + count("private_user"),
    public_users: publicUsers,
  };
}
