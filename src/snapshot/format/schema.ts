/** The tables of a snapshot, except those of FTS5 (search/name-index.ts). */
import {
  getTableConfig,
  integer,
  type SQLiteColumn,
  type SQLiteTable,
  sqliteTable,
  text,
} from "drizzle-orm/sqlite-core";
import { formatTime } from "../../domain/time.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "./layout.ts";

export const meta = sqliteTable("meta", { key: text().primaryKey(), value: text().notNull() });

export const role = sqliteTable("role", {
  id: integer().primaryKey(),
  name: text().notNull(),
  hierarchy: integer().notNull(),
});

export const achievement = sqliteTable("achievement", {
  id: integer().primaryKey(),
  name: text().notNull(),
  description: text().notNull(),
  icon: text().notNull(),
  type: text().notNull(),
  tier: integer().notNull(),
  points: integer().notNull(),
});

export const company = sqliteTable("company", {
  id: integer().primaryKey(),
  name: text().notNull(),
  member_count: integer().notNull(),
  /** All spellings of the name. */
  folded: text().notNull(),
});

/** The ids of companies in the order of results, which the name index lists by rank. */
const companyRank = sqliteTable("company_rank", {
  rank: integer().primaryKey(),
  id: integer().notNull(),
});

export const privateUser = sqliteTable("private_user", { id: integer().primaryKey() });

/** Public users only. Each row has all of a profile, so reading one needs no join. */
export const user = sqliteTable("user", {
  id: integer().primaryKey(),
  name: text().notNull(),
  /** All spellings of the name. */
  folded: text().notNull(),
  avatar_url: text(),
  company_id: integer(),
  company_name: text(),
  company_role: text(),
  /** The JSON of role ids in ascending order. */
  roles: text().notNull(),
  created_at: integer().notNull(),
  /** The JSON of an array of {@link Unlock}, the newest first. Last, so that other columns are read without it. */
  achievements: text().notNull(),
});

/** An achievement in the column `achievements`. `unlockedAt` is in seconds since 1970. */
export type Unlock = [achievementId: number, tier: number, unlockedAt: number];

/** Returns the JSON array of a response, given the JSON of each definition. */
export function encodeUnlocks(unlocks: Unlock[], definitionOf: (id: number) => string): string {
  let entries = "";
  for (const [id, tier, unlockedAt] of unlocks) {
    if (entries) entries += ",";
    const time = formatTime(unlockedAt);
    entries += `{"achievement":${definitionOf(id)},"tier":${tier},"unlocked_at":"${time}"}`;
  }
  return `[${entries}]`;
}

/** When a change hid or deleted a user, in milliseconds since 1970; see src/import/takedowns.ts. */
export const takedown = sqliteTable("takedown", {
  id: integer().primaryKey(),
  at: integer().notNull(),
});

const tables = [meta, role, achievement, company, companyRank, privateUser, takedown, user];

export function createSchema(client: Sqlite): void {
  client.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
  for (const table of tables) createTable(client, table);
}

function createTable(client: Sqlite, table: SQLiteTable): void {
  const { name, columns } = getTableConfig(table);
  client.exec(`CREATE TABLE ${name} (${columns.map(declareColumn).join(", ")}) STRICT`);
}

function declareColumn(column: SQLiteColumn): string {
  const parts = [column.name, column.getSQLType().toUpperCase()];
  if (column.primary) parts.push("PRIMARY KEY");
  if (column.notNull) parts.push("NOT NULL");
  return parts.join(" ");
}

/** Creates the indexes of a database with rows, which takes less time than keeping them up. */
export function createIndexes(client: Sqlite): void {
  client.exec(`CREATE INDEX IF NOT EXISTS achievement_icon ON achievement (icon);
    CREATE INDEX IF NOT EXISTS user_company ON user (company_id) WHERE company_id IS NOT NULL`);
}
