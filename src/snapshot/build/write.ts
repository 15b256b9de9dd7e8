/**
 * Writes a snapshot file: a database is filled in one transaction, its living rows alone are copied to
 * a new file, and that gets its checksum.
 */
import { sqlite } from "#sqlite";
import { formatTime } from "../../domain/time.ts";
import { version } from "../../domain/version.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { appendChecksum } from "../format/file.ts";
import { type Counts, countRows, type Meta, writeMeta } from "../format/meta.ts";
import type { LineErrors } from "./dataset.ts";

export interface Counted {
  counts: Counts;
  /** What `skipInvalid` left out. */
  skipped: LineErrors;
}

/** The `built_at` of a snapshot that replaces `old`: now, or a millisecond later than the old one. */
export function buildTimeAfter(old: Meta | undefined, now: number): number {
  return Math.max(now, (old?.built_at_ms ?? 0) + 1);
}

/**
 * Makes the snapshot `path` of what `fill` puts into the file `database`, which may be there already
 * and is nobody else's; `fill` resolves to the SHA-256 of the dataset that it now is.
 */
export async function writeSnapshot(
  path: string,
  database: string,
  builtAtMs: number,
  fill: (db: Sqlite) => Promise<{ sha256: string; skipped: LineErrors }>,
): Promise<Counted> {
  const db = sqlite.openWritable(database);
  try {
    // There is no old state to protect, and nobody to lock out. A killed writer must leave nothing that
    // SQLite would play into another file, so the journal is in memory; OFF is ignored by Bun's SQLite
    // without an error.
    const set = db.prepare<{ journal_mode: string }>("PRAGMA journal_mode = memory").get();
    if (set?.journal_mode !== "memory") throw new Error(`SQLite's journal is ${set?.journal_mode}`);
    db.exec(`
      PRAGMA locking_mode = exclusive;
      PRAGMA synchronous = OFF;
      PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -32768;
      BEGIN;
    `);
    const { sha256, skipped } = await fill(db);
    const counts = countRows(db);
    const built_at = formatTime(Math.floor(builtAtMs / 1000));
    writeMeta(db, {
      built_at,
      built_at_ms: builtAtMs,
      dataset_sha256: sha256,
      roadbook_version: version,
      counts,
    });
    db.exec("COMMIT");
    // What SQLite leaves in freed pages and cells stays behind: rows are copied, not pages.
    db.prepare("VACUUM INTO ?").run(path);
    await appendChecksum(path);
    return { counts, skipped };
  } finally {
    db.close();
  }
}
