/**
 * The six tables that an operator provides as CSV files or as SELECTs, with their columns. Checks
 * the names of files and columns, and never reads a row.
 */
import { readdirSync } from "node:fs";
import { readError } from "../files/errors.ts";

/** The first column of each table identifies a row or its user. */
const required = {
  roles: ["id", "name", "hierarchy"],
  achievements: ["id", "name", "description", "icon", "kind", "tier", "points"],
  companies: ["id", "name"],
  users: ["id", "public", "name", "created_at"],
  user_roles: ["user_id", "role_id"],
  user_achievements: ["user_id", "achievement_id", "tier", "unlocked_at"],
};
export type TableName = keyof typeof required;
const optional: Partial<Record<TableName, string[]>> = {
  companies: ["member_count"],
  users: ["avatar_url", "company_id", "company_role"],
};

const names = Object.keys(required) as TableName[];

/** Returns the tables of a folder. A table's file has the table's name and this ending. */
export function findTables(folder: string, ending: "csv" | "sql"): TableName[] {
  const files = listFiles(folder);
  const known = names.map((name) => `${name}.${ending}`);
  const stray = files.find((file) => /^[^.].*\.(?:csv|sql)$/i.test(file) && !known.includes(file));
  if (stray !== undefined) {
    const isQuery = ending === "csv" && names.some((name) => stray === `${name}.sql`);
    const advice = isQuery ? "; queries need a database: import DATABASE --queries FOLDER" : "";
    throw new Error(`${folder} has ${stray}, but its files must be ${list(known)}${advice}`);
  }
  const found = names.filter((name) => files.includes(`${name}.${ending}`));
  if (found.includes("users") || found.includes("companies")) return found;
  const needed = `users.${ending} or companies.${ending}`;
  throw new Error(`${folder} must have ${needed}; its files can be ${list(known)}`);
}

/** Throws an error that begins with `file` unless the table has the right columns. */
export function checkColumns(file: string, table: TableName, columns: readonly string[]): void {
  const more = optional[table] ?? [];
  const expected = list(required[table]) + (more.length > 0 ? `; optional: ${list(more)}` : "");
  const missing = required[table].find((name) => !columns.includes(name));
  const stray = columns.find((name) => ![...required[table], ...more].includes(name));
  const double = columns.find((name, at) => columns.indexOf(name) < at);
  const problem =
    (stray !== undefined && `there is no column ${JSON.stringify(stray)}`) ||
    (missing !== undefined && `the column ${missing} is missing`) ||
    (double !== undefined && `the column ${double} is there twice`);
  if (problem) throw new Error(`${file}: ${problem}; the columns are ${expected}`);
}

/** The column that identifies a row, or for user_roles and user_achievements the row's user. */
export function keyOf(table: string): "id" | "user_id" {
  return table.startsWith("user_") ? "user_id" : "id";
}

function list(names: readonly string[]): string {
  return names.join(", ");
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw readError(folder, error);
  }
}
