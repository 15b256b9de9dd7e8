/** The six tables that an operator provides as CSV files or as SELECTs, and their columns. */
import type { RecordType } from "../domain/dataset.ts";
import { findSimilar } from "../domain/invalid-value.ts";
import type { UnknownColumn } from "../domain/record-reader.ts";

/** The required and the optional columns of each table. */
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

export const tableNames = Object.keys(tables) as TableName[];

export function columnsOf(table: TableName): string[] {
  return tables[table].flat();
}

/** The table with the records of a type. */
export function tableOf(type: RecordType): TableName {
  return type === "company" ? "companies" : `${type}s`;
}

/** The tables of what users have. */
export const ownedTables = ["user_roles", "user_achievements"] as const;

export interface Header {
  /** The index of each known column. */
  columns: ReadonlyMap<string, number>;
  unknown: UnknownColumn[];
}

/** Returns the name of the column that has a title. */
export function toColumn(title: string): string {
  return title.trim().toLowerCase().replace(/\s+/g, "_");
}

/** Whether people write the cells of a column, or nobody knows. The others have ids, times and such. */
export function hasFreeText(column: string): boolean {
  return !/(?:^|_)(?:id|at|url|count)$|^(?:public|hierarchy|tier|points)$/.test(column);
}

/** Finds the columns of a table, in any case. Throws if one is missing or occurs twice. */
export function findColumns(file: string, table: TableName, header: readonly string[]): Header {
  const [required, optional]: [string[], string[]] = tables[table];
  const known = [...required, ...optional];
  const titles = header.map(toColumn);

  const double = titles.find((name, at) => known.includes(name) && titles.indexOf(name) < at);
  if (double !== undefined) throw new Error(`${file}: the column "${double}" occurs twice`);

  const absent = known.filter((name) => !titles.includes(name));
  const unknown = titles.flatMap((name, at) => {
    if (known.includes(name)) return [];
    const meant = findSimilar(name, absent) ?? absent.find((one) => one.startsWith(`${name}_`));
    return [{ file, column: (header[at] ?? "").trim(), meant }];
  });

  const advice = `the columns can be ${known.join(", ")}`;
  if (absent.length === known.length) {
    // The first line may be somebody's row, so it is not quoted.
    throw new Error(`${file} does not begin with the names of columns; ${advice}`);
  }
  const missing = required.find((name) => absent.includes(name));
  if (missing !== undefined) {
    const others = unknown.map(({ column }) => `"${column}"`).join(", ") || "none";
    throw new Error(
      `${file}: the column "${missing}" is missing; ${advice}; unknown columns: ${others}`,
    );
  }

  const present = known.filter((name) => titles.includes(name));
  const columns = new Map(present.map((name) => [name, titles.indexOf(name)]));
  return { columns, unknown };
}

/** The column that identifies a row, or for user_roles and user_achievements the row's user. */
export function keyOf(table: TableName): "id" | "user_id" {
  return table.startsWith("user_") ? "user_id" : "id";
}
