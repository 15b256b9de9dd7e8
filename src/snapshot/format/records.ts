/** Lists the records of a snapshot in one fixed order, and exports them as the lines of a dataset. */
import { eq, getTableColumns } from "drizzle-orm";
import { type DatasetLine, type IdsLine, withEndLine } from "../../domain/dataset.ts";
import { formatTime } from "../../domain/time.ts";
import { toFileError } from "../../files/errors.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { readMeta } from "./meta.ts";
import { openPrivate } from "./open.ts";
import { achievement, company, privateUser, role, type Unlock, user } from "./schema.ts";

/** Lists all records by type, then by id. */
export function* listRecords(db: Database): Generator<DatasetLine> {
  for (const row of db.select().from(role).orderBy(role.id).all()) {
    yield { type: "role", ...row };
  }

  for (const row of db.select().from(achievement).orderBy(achievement.id).all()) {
    const { id, name, description, icon, type: kind, tier, points } = row;
    yield { type: "achievement", id, name, description, icon, kind, tier, points };
  }

  const { id, name, member_count } = company;
  const companies = db.select({ id, name, member_count }).from(company).orderBy(company.id);
  for (const row of prepareText(db, companies).iterate()) {
    yield { type: "company", ...row };
  }

  for (const row of prepareText(db, selectUsers(db)).iterate()) {
    yield toUserRecord(row);
  }
}

/** Selects all users. Of private ones, there is only the id. */
function selectUsers(db: Database) {
  const { folded, ...columns } = getTableColumns(user);
  const publicIds = db.select({ id: user.id }).from(user);
  const ids = publicIds.unionAll(db.select().from(privateUser)).as("ids");
  const users = db.select({ ...columns, id: ids.id }).from(ids);
  return users.leftJoin(user, eq(user.id, ids.id)).orderBy(ids.id);
}

type UserRow = ReturnType<ReturnType<typeof selectUsers>["all"]>[number];

function toUserRecord({ id, name, company_id, company_role, ...row }: UserRow): DatasetLine {
  if (name === null) return { type: "user", id, public: false };
  const roles: number[] = JSON.parse(row.roles ?? "[]");
  const unlocks: Unlock[] = JSON.parse(row.achievements ?? "[]");
  return {
    type: "user",
    id,
    public: true,
    name,
    avatar_url: row.avatar_url,
    created_at: formatTime(row.created_at ?? 0),
    company: company_id === null ? null : { id: company_id, role: company_role ?? "" },
    roles,
    achievements: unlocks
      .sort(([a], [b]) => a - b)
      .map(([id, tier, unlockedAt]) => ({ id, tier, unlocked_at: formatTime(unlockedAt) })),
  };
}

/**
 * Lists the lines as JSON. Throws a `SnapshotError` if the snapshot at `path` cannot be read. The
 * snapshot is closed after the first iteration, or without one when the lines are disposed of.
 */
export async function exportDataset(path: string): Promise<Iterable<string> & Disposable> {
  const opened = await openPrivate(path);
  function* read(): Generator<string> {
    using _open = opened;
    try {
      yield* withEndLine(listLines(opened.db));
    } catch (error) {
      throw toFileError(path, "read", error);
    }
  }
  return { [Symbol.iterator]: read, [Symbol.dispose]: opened[Symbol.dispose] };
}

function* listLines(db: Database): Generator<string> {
  const { id_map: map } = readMeta(db);
  if (map !== undefined) yield JSON.stringify({ type: "ids", map } satisfies IdsLine);
  for (const line of listRecords(db)) yield JSON.stringify(line);
}
