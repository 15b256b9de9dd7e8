/**
 * Writes a snapshot file: a database is filled in one transaction, its living rows alone are copied to
 * a new file, and that gets its checksum.
 */
import { setImmediate } from "node:timers/promises";
import { sqlite } from "#sqlite";
import { formatTime } from "../../domain/time.ts";
import { version } from "../../domain/version.ts";
import type { Database, Sqlite } from "../../sqlite/driver.ts";
import { appendChecksum } from "../format/file.ts";
import { type Counts, countRows, type Meta, writeMeta } from "../format/meta.ts";
import type { NameKind } from "../format/schema.ts";
import { buildNameIndex } from "../name-index/build.ts";
import { listFeatured } from "./featured.ts";
import type { LineErrors } from "./line-errors.ts";

export interface Counted {
  counts: Counts;
  /** What `skipInvalid` left out. */
  skipped: LineErrors;
}

/** The `built_at` of a snapshot that replaces `old`: now, or a millisecond later than the old one. */
export function buildTimeAfter(old: Meta | undefined, now: number): number {
  return Math.max(now, (old?.built_at_ms ?? 0) + 1);
}

interface Filled {
  /** The SHA-256 of the dataset that the file now holds. */
  sha256: string;
  skipped: LineErrors;
  /** The name indexes that must be built. */
  staleIndexes: readonly NameKind[];
  /** The only users who may have the most points; without it, any user may. */
  featuredCandidates?: readonly number[] | undefined;
}

interface WriteOptions {
  builtAtMs: number;
  /** Called now and then with the share (0 to 1) of the users' name index that is built. */
  onIndexed?: ((share: number) => void) | undefined;
}

/** There is no old state to protect, and nobody to lock out. */
const FAST = `
  PRAGMA synchronous = OFF;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -32768;
  BEGIN;
`;

/**
 * Makes the snapshot `path` of what `fill` puts into the file `database`, which may be there already
 * and is nobody else's.
 */
export async function writeSnapshot(
  path: string,
  database: string,
  { builtAtMs, onIndexed }: WriteOptions,
  fill: (db: Database) => Promise<Filled>,
): Promise<Counted> {
  const db = sqlite.openWritable(database);
  let filled: Filled;
  let counts: Counts;
  try {
    begin(db.$client);
    filled = await fill(db);
    counts = countRows(db);
    const built_at = formatTime(Math.floor(builtAtMs / 1000));
    writeMeta(db, {
      built_at,
      built_at_ms: builtAtMs,
      dataset_sha256: filled.sha256,
      roadbook_version: version,
      counts,
      featured: listFeatured(db, filled.featuredCandidates),
    });
    db.$client.exec("COMMIT");
  } finally {
    db.$client.close();
  }
  const connection = sqlite.openConnection(database);
  try {
    begin(connection);
    for (const kind of filled.staleIndexes) {
      for (const share of buildNameIndex(connection, kind)) {
        if (kind === "user") onIndexed?.(share);
        // A signal that came meanwhile is heard here.
        await setImmediate();
      }
    }
    connection.exec("COMMIT");
    // What SQLite leaves in freed pages and cells stays behind: rows are copied, not pages.
    connection.prepare("VACUUM INTO ?").run(path);
  } finally {
    connection.close();
  }
  await appendChecksum(path);
  return { counts, skipped: filled.skipped };
}

/**
 * A killed writer must leave nothing that SQLite would play into another file, so the journal is in
 * memory; OFF is ignored by Bun's SQLite without an error.
 */
function begin(connection: Sqlite): void {
  const set = connection.prepare<{ journal_mode: string }>("PRAGMA journal_mode = memory").get();
  if (set?.journal_mode !== "memory") throw new Error(`SQLite's journal is ${set?.journal_mode}`);
  connection.exec(FAST);
}
