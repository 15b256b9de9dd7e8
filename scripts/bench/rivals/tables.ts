/** The schema and data for the Elysia and Fastify rivals, with keys. */
import { Database } from "bun:sqlite";
import { getTableConfig, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
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

const tables = { role, achievement, company, user, userRole, userAchievement };

/** Creates a database with the public users from `lines`, without the trigrams. */
export function makeTables(path: string, lines: Iterable<DatasetLine>): void {
  const db = new Database(path);
  db.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  const statements = Object.entries(tables).map(([key, table]) => {
    const { name, columns, primaryKeys } = getTableConfig(table);
    const keys = primaryKeys.map((key) => `PRIMARY KEY (${key.columns.map(({ name }) => name)})`);
    const definitions = columns.map(
      (column) => `${column.name} ${column.getSQLType()}${column.primary ? " PRIMARY KEY" : ""}`,
    );
    db.run(`CREATE TABLE ${name} (${[...definitions, ...keys]})`);
    return [key, db.query(`INSERT INTO ${name} VALUES (${columns.map(() => "?")})`)] as const;
  });
  const inserts = Object.fromEntries(statements);
  /** Adds a row, whose cells are in the order of the columns. */
  const add = (table: keyof typeof tables, ...cells: (string | number | null)[]) =>
    inserts[table]?.run(...cells);
  for (const line of lines) {
    if (line.type === "role") add("role", line.id, line.name, line.hierarchy);
    else if (line.type === "company") add("company", line.id, line.name);
    else if (line.type === "achievement") {
      const { id, name, description, icon, kind, tier, points } = line;
      add("achievement", id, name, description, icon, kind, tier, points);
    } else if (line.public) {
      const { id, name, avatar_url = null, created_at, company, roles, achievements } = line;
      add("user", id, name, avatar_url, created_at, company?.id ?? null, company?.role ?? null);
      for (const role of roles ?? []) add("userRole", id, role);
      for (const unlock of achievements ?? [])
        add("userAchievement", id, unlock.id, unlock.tier, unlock.unlocked_at);
    }
  }
  db.run("COMMIT");
  db.close();
}

export function addTrigrams(path: string): void {
  const db = new Database(path);
  const options = "content = 'user', content_rowid = 'id', tokenize = 'trigram'";
  db.run(`CREATE VIRTUAL TABLE user_trigram USING fts5(name, ${options})`);
  db.run("INSERT INTO user_trigram (user_trigram) VALUES ('rebuild')");
  db.close();
}
