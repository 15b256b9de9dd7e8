/**
 * Writes the dataset that a snapshot was made of, in one fixed form: what is imported from it exports
 * to the same bytes. Streams in the order of the rows; of a private user there is the id.
 */
import { withEndLine } from "../../domain/dataset.ts";
import { formatTime } from "../../domain/time.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { Bounded } from "../format/bounds.ts";
import { listColumn, unpackRoles, unpackUnlocks } from "../format/user-lists.ts";
import { openTables, SpoiledSnapshot, snapshotError, type Tables } from "./open.ts";

/**
 * SQLite makes the lines itself, but for the two lists: as rows brought here and put together, they
 * take three times as long.
 */
const queries = [
  `SELECT json_object('type', 'role', 'id', id, 'name', name, 'hierarchy', hierarchy) AS line
     FROM role ORDER BY id`,
  `SELECT json_object('type', 'achievement', 'id', id, 'name', name, 'description', description,
            'icon', icon, 'kind', kind, 'tier', tier, 'points', points) AS line
     FROM achievement ORDER BY id`,
  `SELECT json_object('type', 'company', 'id', id, 'name', name, 'member_count', member_count) AS line
     FROM company ORDER BY id`,
  `SELECT id, json_object('type', 'user', 'id', id, 'public', json('true'), 'name', name,
            'avatar_url', avatar_url,
            'created_at', strftime('%Y-%m-%dT%H:%M:%SZ', created_at, 'unixepoch'),
            'company', iif(company_id IS NULL, NULL, json_object('id', company_id, 'role', company_role))
          ) AS line, ifnull(${listColumn("roles")}, x'') AS roles,
          ifnull(${listColumn("achievements")}, x'') AS achievements
     FROM user
    UNION ALL
   SELECT id, json_object('type', 'user', 'id', id, 'public', json('false')), NULL, NULL
     FROM private_user
    ORDER BY id`,
];

interface Row {
  line: string;
  /** Of public users alone. */
  roles?: Bounded;
  achievements?: Bounded;
}

function lineOf({ line, roles, achievements }: Row): string {
  if (roles == null || achievements == null) return line;
  const unlocks = unpackUnlocks(achievements)
    .sort((one, other) => one.achievementId - other.achievementId)
    .map(({ achievementId, tier, unlockedAt }) => ({
      id: achievementId,
      tier,
      unlocked_at: formatTime(unlockedAt),
    }));
  const lists = JSON.stringify({ roles: unpackRoles(roles), achievements: unlocks });
  return `${line.slice(0, -1)},${lists.slice(1)}`;
}

/** The lines of the dataset in the snapshot at `path`. Throws a `SnapshotError`. */
export async function exportDataset(path: string): Promise<Iterable<string>> {
  return withEndLine(listLinesOf(path, await openTables(path)));
}

/** The lines of the dataset in a database, without the end line. */
export function* listLines(db: Sqlite): Generator<string> {
  for (const query of queries) {
    for (const row of db.prepare<Row>(query).iterate()) yield lineOf(row);
  }
}

function* listLinesOf(path: string, { db, isSpoiled, close }: Tables): Generator<string> {
  try {
    yield* listLines(db);
    if (isSpoiled()) throw new SpoiledSnapshot();
  } catch (error) {
    throw snapshotError(path, error);
  } finally {
    close();
  }
}
