/**
 * Writes a snapshot file: fills a database, builds its name indexes, copies its rows to a new file
 * and appends a checksum. Never writes to a file that a server is reading.
 */
import { setImmediate } from "node:timers/promises";
import { sqlite } from "#sqlite";
import { formatTime } from "../../domain/time.ts";
import { version } from "../../domain/version.ts";
import type { Database, Sqlite } from "../../sqlite/driver.ts";
import { appendChecksum } from "../format/file.ts";
import { type Counts, countRows, writeMeta } from "../format/meta.ts";
import type { NameKind } from "../format/schema.ts";
import { buildNameIndex } from "../name-index/build.ts";
import { listFeatured } from "./featured.ts";
import type { LineErrors } from "./line-errors.ts";

export interface Counted {
  counts: Counts;
  /** The errors that were skipped because `skipInvalid` is set. */
  skipped: LineErrors;
}

interface Filled {
  skipped: LineErrors;
  /** The name indexes that must be built. */
  staleIndexes: readonly NameKind[];
  /** The ids of the users who might have the most points. Defaults to all users. */
  featuredCandidates?: readonly number[] | undefined;
}

interface WriteOptions {
  /** Defaults to the current time. */
  builtAtMs?: number | undefined;
  /** Called repeatedly while the index of user names is built, with the progress (0 to 1). */
  onIndexed?: ((share: number) => void) | undefined;
}

/** The database is private and is discarded after a crash, so nothing needs to be durable. */
const FAST = `
  PRAGMA synchronous = OFF;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -32768;
  BEGIN;
`;

/**
 * Calls `fill` to write rows to the file `database`, then builds the snapshot file `path` from
 * these rows. `database` may already exist, but no other process may be using it.
 */
export async function writeSnapshot(
  path: string,
  database: string,
  { builtAtMs = Date.now(), onIndexed }: WriteOptions,
  fill: (db: Database) => Promise<Filled>,
): Promise<Counted> {
  const db = sqlite.openWritable(database);
  let filled: Filled;
  let counts: Counts;
  try {
    begin(db.$client);
    filled = await fill(db);
    counts = countRows(db);
    writeMeta(db, {
      built_at: formatTime(Math.floor(builtAtMs / 1000)),
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
        // Lets the event loop handle pending signals.
        await setImmediate();
      }
    }
    connection.exec("COMMIT");
    // Copies rows, not pages. Freed pages and cells, which may hold deleted data, are left behind.
    connection.prepare("VACUUM INTO ?").run(path);
  } finally {
    connection.close();
  }
  await appendChecksum(path);
  return { counts, skipped: filled.skipped };
}

/**
 * Starts a transaction with its journal in memory, because a killed process must not leave a
 * journal file that SQLite would later apply to another database. `journal_mode = OFF` would also
 * work, but Bun's SQLite silently ignores it.
 */
function begin(connection: Sqlite): void {
  const set = connection.prepare<{ journal_mode: string }>("PRAGMA journal_mode = memory").get();
  if (set?.journal_mode !== "memory")
    throw new Error(`SQLite's journal mode is ${set?.journal_mode}, not memory`);
  connection.exec(FAST);
}
