/** Reads and writes a snapshot's metadata, such as its build time. */
import type { Database } from "../../sqlite/driver.ts";
import { type Counts, countUnlocked, type Totals } from "./counts.ts";
import { meta } from "./schema.ts";
import { SnapshotError } from "./snapshot-error.ts";

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
  const rows = db.select().from(meta).all();
  const facts = Object.fromEntries(rows.map(({ key, value }) => [key, value]));
  // Older schemas do not store how many achievements are unlocked.
  const {
    built_at,
    roadbook_version,
    counts,
    unlocked = countUnlocked(db),
    featured,
    id_map,
  } = facts;
  if (built_at && roadbook_version && counts && featured) {
    return {
      built_at,
      roadbook_version,
      counts: JSON.parse(counts) as Counts,
      unlocked: Number(unlocked),
      featured: JSON.parse(featured) as number[],
      id_map,
    };
  }
  throw new SnapshotError("is damaged: its metadata is incomplete");
}
