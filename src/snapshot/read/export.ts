/** Lists the dataset in a snapshot. A list that is imported and exported again stays the same. */
import { type DatasetLine, withEndLine } from "../../domain/dataset.ts";
import type { CompanyLine } from "../../domain/model.ts";
import { formatTime } from "../../domain/time.ts";
import type { Database } from "../../sqlite/driver.ts";
import { achievement, role, type Unlock } from "../format/schema.ts";
import { openPrivate, snapshotError, type VerifiedDatabase } from "./open.ts";

interface UserRow {
  id: number;
  /** Null for a private user, as are all the following fields. */
  name: string | null;
  avatar_url: string | null;
  company_id: number | null;
  company_role: string;
  roles: string;
  created_at: number;
  achievements: string;
}

/** Lists the lines as JSON. Throws a `SnapshotError` if the snapshot at `path` cannot be read. */
export async function exportDataset(path: string, oldest?: number): Promise<Iterable<string>> {
  return withEndLine(listLines(path, await openPrivate(path, undefined, oldest)));
}

function* listLines(path: string, { db, close }: VerifiedDatabase): Generator<string> {
  try {
    for (const line of listRecords(db)) yield JSON.stringify(line);
  } catch (error) {
    throw snapshotError(path, error);
  } finally {
    close();
  }
}

function* listRecords(db: Database): Generator<DatasetLine> {
  for (const row of db.select().from(role).orderBy(role.id).all()) yield { type: "role", ...row };
  for (const row of db.select().from(achievement).orderBy(achievement.id).all()) {
    const { id, name, description, icon, type: kind, tier, points } = row;
    yield { type: "achievement", id, name, description, icon, kind, tier, points };
  }
  const companies = db.$client.prepare<Omit<CompanyLine, "type">>(
    "SELECT id, name, member_count FROM company ORDER BY id",
  );
  for (const row of companies.iterate()) yield { type: "company", ...row };
  const users = db.$client.prepare<UserRow>(
    `SELECT id, name, avatar_url, company_id, company_role, roles, created_at, achievements
      FROM user
      UNION ALL SELECT id, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM private_user ORDER BY id`,
  );
  for (const row of users.iterate()) yield lineOfUser(row);
}

function lineOfUser({ id, name, avatar_url, company_id, ...row }: UserRow): DatasetLine {
  if (name === null) return { type: "user", id, public: false };
  const unlocks: Unlock[] = JSON.parse(row.achievements);
  return {
    type: "user",
    id,
    public: true,
    name,
    avatar_url,
    created_at: formatTime(row.created_at),
    company: company_id === null ? null : { id: company_id, role: row.company_role },
    roles: JSON.parse(row.roles),
    achievements: unlocks
      .sort(([a], [b]) => a - b)
      .map(([id, tier, unlockedAt]) => ({ id, tier, unlocked_at: formatTime(unlockedAt) })),
  };
}
