/** How rows stand for records: lists them in one fixed order, and encodes a user's achievements. */
import { eq, getTableColumns } from "drizzle-orm";
import type { DatasetLine } from "../../domain/dataset.ts";
import { formatTime } from "../../domain/time.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { achievement, company, privateUser, role, user } from "./schema.ts";

/** `unlockedAt` is in seconds since 1970. A row has a user's achievements as JSON, the newest first. */
export type Unlock = [achievementId: number, tier: number, unlockedAt: number];

/** Returns the entries of a user as a JSON array, given the JSON of each definition. */
export function encodeUnlocks(unlocks: Unlock[], definitionOf: (id: number) => string): string {
  let entries = "";
  for (const [id, tier, unlockedAt] of unlocks) {
    if (entries) entries += ",";
    const time = formatTime(unlockedAt);
    entries += `{"achievement":${definitionOf(id)},"tier":${tier},"unlocked_at":"${time}"}`;
  }
  return `[${entries}]`;
}

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
