/**
 * The six tables that an operator provides as CSV files or as SELECTs, with the columns of each, and
 * what each column holds. How a cell is read and what is said about it follows from this.
 */
import type { RawRecord, RecordType } from "../domain/dataset.ts";
import {
  type IdFormat,
  toCompanyId,
  toInteger,
  toOptionalText,
  toPublic,
  toText,
  toTitle,
  withoutFormula,
} from "./cells.ts";
import { type DateOrders, toTime } from "./times.ts";

interface TableColumns {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

export const tables = {
  roles: { required: ["id", "name", "hierarchy"], optional: [] },
  achievements: {
    required: ["id", "name", "description", "icon", "kind", "tier", "points"],
    optional: [],
  },
  companies: { required: ["id", "name"], optional: ["member_count"] },
  users: {
    required: ["id", "public", "name", "created_at"],
    optional: ["avatar_url", "company_id", "company", "company_role"],
  },
  user_roles: { required: ["user_id", "role_id"], optional: [] },
  user_achievements: {
    required: ["user_id", "achievement_id", "tier", "unlocked_at"],
    optional: [],
  },
} as const satisfies Record<string, TableColumns>;
export type TableName = keyof typeof tables;
export type ColumnName = (typeof tables)[TableName]["required" | "optional"][number];

interface Column {
  readonly holds: keyof typeof readers;
  /** The cure for a missing cell in a CSV file. Sheets of people often end in a total. */
  readonly ifMissing?: string;
}

const columns: Readonly<Record<ColumnName, Column>> = {
  id: { holds: "id", ifMissing: "write one, or remove the row if it is a total or a note" },
  name: { holds: "name", ifMissing: "write one, in quotes if it is NULL" },
  hierarchy: { holds: "integer" },
  description: { holds: "text" },
  icon: { holds: "text" },
  kind: { holds: "text" },
  tier: { holds: "integer" },
  points: { holds: "integer" },
  member_count: { holds: "integer" },
  public: {
    holds: "yes or no",
    ifMissing: "write yes or no, or remove the row if it is a total or a note",
  },
  created_at: {
    holds: "time",
    ifMissing:
      "write the day of joining, or the platform's first, or remove the row if it is a total or a note; " +
      "--skip-invalid makes such users private",
  },
  avatar_url: { holds: "url" },
  company_id: { holds: "company id" },
  company: { holds: "title" },
  company_role: { holds: "title" },
  user_id: { holds: "id" },
  role_id: { holds: "id" },
  achievement_id: { holds: "id" },
  unlocked_at: { holds: "time" },
};

/** How the cells of one source differ from those of others. */
export interface CellFormat {
  readonly ids: IdFormat;
  /** Only MySQL sends a bit as a byte. */
  readonly dialect: { readonly hasBits: boolean };
  /** Whether people have written the cells in a spreadsheet, which shows errors as text. */
  readonly isSpreadsheet: boolean;
  /** The orders of day and month in columns, where they differ from {@link toTime}'s own. */
  readonly dateOrders?: ReadonlyMap<string, DateOrders>;
}

type CellReader = (cell: unknown, format: CellFormat, column: string) => unknown;

const readers = {
  id: (cell, { ids }) => ids.read(cell),
  "company id": (cell, { ids }) => toCompanyId(cell, ids),
  integer: toInteger,
  name: (cell, { isSpreadsheet }) => (isSpreadsheet ? withoutFormula(toText(cell)) : toText(cell)),
  text: toText,
  time: (cell, { dateOrders }, column) => toTime(cell, dateOrders?.get(column)),
  title: toTitle,
  url: toOptionalText,
  "yes or no": (cell, { dialect }) =>
    cell instanceof Uint8Array && !dialect.hasBits ? cell : toPublic(cell),
} satisfies Record<string, CellReader>;

export const tableNames = Object.keys(tables) as TableName[];

/** The tables of what users have. */
export const ownedTables = ["user_roles", "user_achievements"] as const;

/** The table with the records of a type. */
export function tableOf(type: RecordType): TableName {
  return type === "company" ? "companies" : `${type}s`;
}

/** Lists the required columns of a table, then the optional ones. */
export function columnsOf(table: TableName): ColumnName[] {
  return [...tables[table].required, ...tables[table].optional];
}

/** The column that identifies a row, or for user_roles and user_achievements the row's user. */
export function idColumnOf(table: TableName): "id" | "user_id" {
  return table.startsWith("user_") ? "user_id" : "id";
}

/** Returns undefined for what is no column of any table. */
export function findColumn(name: string): Column | undefined {
  return (columns as Partial<Record<string, Column>>)[name];
}

/** Whether people may write anything in a column, such as quotes, or nobody knows what it is. */
export function hasFreeText(column: ColumnName | undefined): boolean {
  return column === undefined || ["name", "text", "title"].includes(columns[column].holds);
}

/** Converts the cells of a row, of which it leaves out those that are null. */
export function toCells(row: Readonly<RawRecord>, format: CellFormat): RawRecord {
  const cells: RawRecord = {};
  for (const name in row) {
    const column = findColumn(name);
    const value = column && readers[column.holds](row[name], format, name);
    // Without undefined values, so that validation reports what is missing.
    if (value !== undefined) cells[name] = value;
  }
  return cells;
}
