/** The schema and data for the Elysia and Fastify rivals, with keys but without a search index. */
import { Database } from "bun:sqlite";
import { existsSync, renameSync } from "node:fs";
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { DatasetLine } from "../../../src/domain/dataset.ts";

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
});
export const user = sqliteTable("user", {
  id: integer().primaryKey(),
  name: text().notNull(),
  avatarUrl: text("avatar_url"),
  createdAt: text("created_at").notNull(),
  companyId: integer("company_id"),
  companyRole: text("company_role"),
});
export const userRole = sqliteTable(
  "user_role",
  { userId: integer("user_id").notNull(), roleId: integer("role_id").notNull() },
  (table) => [primaryKey({ columns: [table.userId, table.roleId] })],
);
export const userAchievement = sqliteTable(
  "user_achievement",
  {
    userId: integer("user_id").notNull(),
    achievementId: integer("achievement_id").notNull(),
    tier: integer().notNull(),
    unlockedAt: text("unlocked_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.achievementId] })],
);

/** Creates a database with the public users from `lines`, unless the database already exists. */
export function makeTables(path: string, lines: Iterable<DatasetLine>): void {
  if (existsSync(path)) return;
  const db = new Database(`${path}.new`);
  db.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  const insert = (table: string, columns: string, key = "") => {
    db.run(`CREATE TABLE ${table} (${columns}${key && `, PRIMARY KEY (${key})`})`);
    const statement = db.query(
      `INSERT INTO ${table} VALUES (${columns.replaceAll(/[^,]+/g, "?")})`,
    );
    return (...values: (string | number | null)[]) => statement.run(...values);
  };
  const addRole = insert("role", "id INTEGER PRIMARY KEY, name TEXT, hierarchy INTEGER");
  const addAchievement = insert(
    "achievement",
    "id INTEGER PRIMARY KEY, name TEXT, description TEXT, icon TEXT, type TEXT, tier INTEGER, points INTEGER",
  );
  const addCompany = insert("company", "id INTEGER PRIMARY KEY, name TEXT");
  const addUser = insert(
    "user",
    "id INTEGER PRIMARY KEY, name TEXT, avatar_url TEXT, created_at TEXT, company_id INTEGER, company_role TEXT",
  );
  const addUserRole = insert("user_role", "user_id INTEGER, role_id INTEGER", "user_id, role_id");
  const addUnlock = insert(
    "user_achievement",
    "user_id INTEGER, achievement_id INTEGER, tier INTEGER, unlocked_at TEXT",
    "user_id, achievement_id",
  );
  for (const line of lines) {
    if (line.type === "role") addRole(line.id, line.name, line.hierarchy);
    else if (line.type === "company") addCompany(line.id, line.name);
    else if (line.type === "achievement") {
      const { id, name, description, icon, kind, tier, points } = line;
      addAchievement(id, name, description, icon, kind, tier, points);
    } else if (line.public) {
      const { id, name, avatar_url = null, created_at, company, roles, achievements } = line;
      addUser(id, name, avatar_url, created_at, company?.id ?? null, company?.role ?? null);
      for (const role of roles ?? []) addUserRole(id, role);
      for (const unlock of achievements ?? [])
        addUnlock(id, unlock.id, unlock.tier, unlock.unlocked_at);
    }
  }
  db.run("COMMIT");
  db.close();
  renameSync(`${path}.new`, path);
}
