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
  /** The same in milliseconds since 1970; a snapshot is older than another when this is less. */
  built_at_ms: number;
  /**
   * SHA-256 of the lines that the snapshot keeps, each with a line end, in hexadecimal: of a dataset as
   * `export` writes it, the SHA-256 of that file. The line of a private user counts as its id alone,
   * so the hash confirms no guess of what was dropped. When --skip-invalid took something back out of a
   * line that had been read, it is the SHA-256 of the snapshot's export. Each change file that is
   * applied makes it the SHA-256 of the one before and of that of the changes' lines.
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
  const value = (key: keyof Meta, shape: RegExp, missing?: string): string => {
    const found = find.get(key)?.value ?? missing;
    if (typeof found === "string" && shape.test(found)) return found;
    throw new InvalidSnapshot(`is damaged: its meta table has no ${key} that can be read`);
  };
  const built_at = value("built_at", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  return {
    built_at,
    // Snapshots of earlier schemas have whole seconds alone.
    built_at_ms: Number(value("built_at_ms", /^\d{1,15}$/, String(Date.parse(built_at)))),
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
