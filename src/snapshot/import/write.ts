/** Fills the database of a snapshot and builds its name indexes. */
import { setImmediate } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import type { RecordKey } from "../../domain/dataset.ts";
import { formatTime } from "../../domain/time.ts";
import { version } from "../../domain/version.ts";
import { buildNameIndex, nameKinds } from "../../search/name-index.ts";
import { type Database, prepareText, type Sqlite } from "../../sqlite/driver.ts";
import { withTrailer } from "../format/header-trailer.ts";
import { countOf, countTotals, type Meta, type Totals, writeMeta } from "../format/meta.ts";
import { achievement, createIndexes, type Unlock, user } from "../format/schema.ts";
import type { Differences } from "./compare.ts";
import { forgetRemains } from "./forget.ts";
import type { Read } from "./read-dataset.ts";

const MAX_FEATURED = 12;
/** If fewer pages are free, a change leaves the other blocks as they are. */
const MAX_FREE_SHARE = 1 / 8;
/** Listing this many takes 1 ms. */
const IDS_PER_PAGE = 5000;

type Summary = Totals & Pick<Meta, "featured" | "id_map">;

export interface Counted extends Read, Totals {
  /** The checksum of the new snapshot; undefined for a dry run. */
  sha256?: string;
  /** Undefined if the file is new or nothing could be compared. */
  differences: Differences | undefined;
  /** How many users an import kept private or deleted, although the dataset says otherwise. */
  held: number;
  /** The records that a change file deletes and that do not exist. */
  notFound: { type: RecordKey["type"]; id: number | string }[];
}

export interface WriteOptions {
  /** The time of the build, which dates takedowns and ends holds. Defaults to now. */
  builtAtMs?: number | undefined;
  /** Called repeatedly while the index of user names is built, with the progress (0 to 1). */
  onIndexed?: ((share: number) => void) | undefined;
}

/**
 * Calls `use` with a database in a transaction; see `openWritable` for `source`. Nothing needs to
 * be durable, because the database is discarded after a crash.
 */
export async function useDatabase<T>(
  source: string | Uint8Array,
  use: (db: Database) => Promise<T>,
): Promise<T> {
  const db = sqlite.openWritable(source);
  try {
    // A killed process must not leave a journal file, which SQLite would later apply to another
    // database. `journal_mode = OFF` would also work, but Bun's SQLite silently ignores it.
    db.$client.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
      PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; PRAGMA secure_delete = ON; BEGIN`);
    return await use(db);
  } finally {
    db.$client.close();
  }
}

/** Builds the name indexes of a database with rows. */
export async function indexNames(db: Database, { onIndexed }: WriteOptions): Promise<void> {
  const users = countOf(db, user);
  for (const kind of nameKinds) {
    for (const done of buildNameIndex(db.$client, kind)) {
      if (kind === "user") onIndexed?.(done / users);
      // Lets the event loop handle pending signals.
      await setImmediate();
    }
  }
}

/** Adds what follows from the rows of a database, and commits. */
export function finishDatabase(db: Database, summary: Summary, builtAtMs = Date.now()): void {
  const built_at = formatTime(Math.floor(builtAtMs / 1000));
  writeMeta(db, { built_at, roadbook_version: version, ...summary });
  createIndexes(db.$client);
  divideSitemap(db.$client);
  db.$client.exec("COMMIT");
  forgetRemains(db);
}

/** Notes the first id on each page of the sitemap. */
function divideSitemap(db: Sqlite): void {
  for (const kind of nameKinds) {
    const listed =
      kind === "user" ? "" : "AND EXISTS (SELECT 1 FROM user WHERE company_id = company.id)";
    const findId = (after: string, offset: number) =>
      `(SELECT id FROM ${kind} WHERE id > ${after} ${listed} ORDER BY id LIMIT 1 OFFSET ${offset})`;
    db.exec(`DELETE FROM ${kind}_page;
      INSERT INTO ${kind}_page
        WITH RECURSIVE page (id) AS (
          SELECT ${findId("0", 0)}
          UNION ALL SELECT ${findId("page.id", IDS_PER_PAGE - 1)} FROM page WHERE page.id IS NOT NULL)
        SELECT id FROM page WHERE id IS NOT NULL`);
  }
}

/** Copies rows, not pages, so free pages and what they may hold are left behind. */
export function copyRows(db: Database, path: string): void {
  db.run(sql`VACUUM INTO ${path}`);
}

/** Whether so many pages are free that they should not be copied with each further change. */
export function hasManyFreePages(db: Database): boolean {
  const [[free = 0, all = 0] = []] = db.values<number[]>(
    "SELECT freelist_count, page_count FROM pragma_freelist_count, pragma_page_count",
  );
  return free > all * MAX_FREE_SHARE;
}

/** Returns a database in memory as the bytes of a snapshot file. */
export function serializeSnapshot(db: Database): Uint8Array {
  db.$client.exec("VACUUM");
  return withTrailer(db.$client.serialize());
}

/**
 * Counts the rows and lists the users with the most achievement points, highest first, then lowest
 * id. Reads only the users in `among` for this list if it is given, which is much faster.
 */
export function summarize(db: Database, among?: readonly number[]): Omit<Summary, "id_map"> {
  const definitions = db.select().from(achievement).all();
  const pointsOf = new Map(definitions.map(({ id, points }) => [id, points]));
  const isAmong = sql`${user.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))`;
  const users = db
    .select({ id: user.id, achievements: user.achievements })
    .from(user)
    .where(among && isAmong)
    .orderBy(user.id);

  const best: { id: number; points: number }[] = [];
  let unlocked = 0;
  const values = among ? [JSON.stringify(among)] : [];
  for (const { id, achievements } of prepareText(db, users).iterate(...values)) {
    const unlocks: Unlock[] = JSON.parse(achievements);
    unlocked += unlocks.length;
    const points = unlocks.reduce((sum, [unlocked]) => sum + (pointsOf.get(unlocked) ?? 0), 0);
    if (best.length === MAX_FEATURED && points <= (best.at(-1)?.points ?? 0)) continue;
    best.push({ id, points });
    best.sort((a, b) => b.points - a.points).splice(MAX_FEATURED);
  }

  return { ...countTotals(db, among ? undefined : unlocked), featured: best.map(({ id }) => id) };
}
