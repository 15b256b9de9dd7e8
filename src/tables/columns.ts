/**
 * The six tables that an operator provides as CSV files or as SELECTs, with their columns. Checks
 * the names of files and columns, and never reads a row.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The columns of each table: those that it must have, and optional ones. */
const tables = {
  roles: [["id", "name", "hierarchy"], []],
  achievements: [["id", "name", "description", "icon", "kind", "tier", "points"], []],
  companies: [["id", "name"], ["member_count"]],
  users: [
    ["id", "public", "name", "created_at"],
    ["avatar_url", "company_id", "company_role"],
  ],
  user_roles: [["user_id", "role_id"], []],
  user_achievements: [["user_id", "achievement_id", "tier", "unlocked_at"], []],
} satisfies Record<string, [string[], string[]]>;
export type TableName = keyof typeof tables;

const names = Object.keys(tables) as TableName[];

/** Returns the tables of a folder. A table's file has the table's name and this ending. */
export function findTables(folder: string, ending: "csv" | "sql"): TableName[] {
  const files = readdirSync(folder);
  const known = names.map((name) => `${name}.${ending}`);
  const stray = files.find((file) => /^[^.].*\.(?:csv|sql)$/i.test(file) && !known.includes(file));
  const found = names.filter((name) => files.includes(`${name}.${ending}`));
  for (const name of found) {
    const file = join(folder, `${name}.${ending}`);
    const isFile = statSync(file, { throwIfNoEntry: false })?.isFile();
    // For example a named pipe, which never ends if it has no writer.
    if (!isFile) throw new Error(`${file} is not a regular file`);
  }
  if (stray === undefined && (found.includes("users") || found.includes("companies"))) return found;
  const problem = stray
    ? `the unknown file ${stray}`
    : `neither users.${ending} nor companies.${ending}`;
  throw new Error(`${folder} has ${problem}; the files can be ${known.join(", ")}`);
}

/** Throws an error that begins with `file` unless the table has the right columns. */
export function checkColumns(file: string, table: TableName, columns: readonly string[]): void {
  const [required, optional]: [string[], string[]] = tables[table];
  const known = [...required, ...optional];
  const stray = columns.find((name, at) => !known.includes(name) || columns.indexOf(name) < at);
  const missing = required.find((name) => !columns.includes(name));
  if (stray === undefined && missing === undefined) return;
  const problem = stray === undefined ? "is missing" : "is unknown or occurs twice";
  const list = `the columns can be ${known.join(", ")}`;
  throw new Error(`${file}: the column "${stray ?? missing}" ${problem}; ${list}`);
}

/** The column that identifies a row, or for user_roles and user_achievements the row's user. */
export function keyOf(table: string): "id" | "user_id" {
  return table.startsWith("user_") ? "user_id" : "id";
}
