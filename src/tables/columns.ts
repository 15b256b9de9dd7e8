/**
 * The six tables that an operator provides as CSV files or as SELECTs, with the columns of each, and
 * what each column holds. Converts the cells of a row into the values of a dataset line. A cell that
 * cannot be converted stays as it is, so that validation rejects and quotes it, or becomes an
 * {@link InvalidCell}.
 */
import { isUtf8 } from "node:buffer";
import { languages } from "../domain/languages.ts";
import type { RecordType } from "../domain/records.ts";
import { digitsOf, toKey } from "../domain/source-ids.ts";
import { isPlaceholder, isUncomputed } from "../domain/text.ts";
import { InvalidCell } from "../domain/validation-errors.ts";
import type { Dialect } from "./dialects.ts";
import { type DateOrders, toTime } from "./times.ts";

export const tableColumns = {
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
} as const satisfies Record<string, Record<"required" | "optional", readonly string[]>>;
export type TableName = keyof typeof tableColumns;
export type ColumnName = (typeof tableColumns)[TableName]["required" | "optional"][number];

/** The reader of each column. */
const columns: Readonly<Record<ColumnName, keyof typeof readers>> = {
  id: "id",
  name: "name",
  hierarchy: "integer",
  description: "text",
  icon: "text",
  kind: "text",
  tier: "integer",
  points: "integer",
  member_count: "integer",
  public: "yes or no",
  created_at: "time",
  avatar_url: "url",
  company_id: "company id",
  company: "title",
  company_role: "title",
  user_id: "id",
  role_id: "id",
  achievement_id: "id",
  unlocked_at: "time",
};

/** How the cells of one file differ from those of others. */
export interface CellFormat {
  readonly ids: IdFormat;
  /** Of the database where they are. */
  readonly dialect: Dialect;
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
  time: (cell, { dateOrders }, column) => toTime(trimmed(cell), dateOrders?.get(column)),
  title: toTitle,
  url: toOptionalText,
  "yes or no": (cell, { dialect }) =>
    cell instanceof Uint8Array && !dialect.hasBits ? cell : toPublic(cell),
} satisfies Record<string, CellReader>;

export const tableNames = Object.keys(tableColumns) as TableName[];

/** The tables of what users have. */
export const ownedTables = ["user_roles", "user_achievements"] as const;

/** The table with the records of a type. */
export function tableOf(type: RecordType): TableName {
  return type === "company" ? "companies" : `${type}s`;
}

/** Lists the required columns of a table, then the optional ones. */
export function columnsOf(table: TableName): ColumnName[] {
  return [...tableColumns[table].required, ...tableColumns[table].optional];
}

/** The column that identifies a row, or for user_roles and user_achievements the row's user. */
export function idColumnOf(table: TableName): "id" | "user_id" {
  return table.startsWith("user_") ? "user_id" : "id";
}

/** Lists the columns of a table that hold times. */
export function timesOf(table: TableName): ColumnName[] {
  return columnsOf(table).filter((column) => columns[column] === "time");
}

/** Whether a column may hold any text, such as quotes. An unknown column may, too. */
export function hasFreeText(column: ColumnName | undefined): boolean {
  return column === undefined || ["name", "text", "title"].includes(columns[column]);
}

/** The converted cells of a row by column. None is undefined, so that validation reports it as missing. */
export type Cells = Readonly<Record<string, unknown>>;

/** Converts the cells of a row, of which it leaves out those that are null. */
export function toCells(row: Readonly<Record<string, unknown>>, format: CellFormat): Cells {
  const cells: Record<string, unknown> = {};
  for (const name in row) {
    const holds = (columns as Partial<typeof columns>)[name as ColumnName];
    const value = holds && readers[holds](row[name], format, name);
    if (value !== undefined) cells[name] = value;
  }
  return cells;
}

/** The form of ids: integers, or keys, which can be of any kind. */
export interface IdFormat {
  /** Reads an id from a cell. Returns anything else unchanged, so that validation quotes it. */
  read(cell: unknown): unknown;
  /** Whether what `read` has returned is an id. */
  isId(value: unknown): value is number | string;
}

/** Keys need an id map. */
export const idFormats = {
  integers: {
    read: toInteger,
    isId: (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
  },
  keys: {
    read: (cell) => toKey(cell) ?? toInteger(cell),
    isId: (value): value is number | string => toKey(value) !== undefined,
  },
} satisfies Record<string, IdFormat>;

/** Reads 0 as no company. */
function toCompanyId(cell: unknown, ids: IdFormat): unknown {
  const id = ids.read(cell);
  return id && id !== "0" ? id : undefined;
}

/** Returns undefined for null and for empty text. An integer beyond 2^53 becomes a bigint. */
function toInteger(cell: unknown): unknown {
  const value = trimmed(cell);
  const digits = digitsOf(asText(value));
  if (digits === undefined) return value === "" ? undefined : value;
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
}

// Databases and people write these words, and spreadsheets in the languages of the page.
// MySQL's own client writes a bit as a control character.
const wordsFor = (value: "true" | "false") =>
  Object.values(languages).flatMap(({ booleans }) => booleans[value]);
const TRUE = ["1", "\u0001", ...wordsFor("true")];
const FALSE = ["0", "\u0000", ...wordsFor("false")];

export function toPublic(cell: unknown): unknown {
  // MySQL's literal b'1' arrives as the byte 1, and its BIT(1) as a boolean.
  if (cell instanceof Uint8Array) return cell.length === 1 ? toPublic(cell[0]) : cell;

  const value = trimmed(cell);
  const text = asText(value).toLowerCase();
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : value;
}

/** Returns undefined for null. */
function toText(cell: unknown): unknown {
  if (typeof cell === "number" || typeof cell === "bigint") return String(cell);
  return decoded(cell) ?? undefined;
}

/** Like {@link toText}, but trims text, and returns undefined if it is empty. */
function toOptionalText(cell: unknown): unknown {
  return trimmed(toText(cell)) || undefined;
}

/** Reads a title, such as Owner. Unlike a name, it is never a word such as NULL. */
function toTitle(cell: unknown): unknown {
  const title = toOptionalText(cell);
  return isPlaceholder(title) ? new InvalidCell(title) : withoutFormula(title);
}

/** In a database, an error of a spreadsheet can be a name. */
function withoutFormula(text: unknown): unknown {
  return isUncomputed(text) ? new InvalidCell(text) : text;
}

/** Decodes bytes that are text, such as MySQL's binary strings. */
function decoded(cell: unknown): unknown {
  return cell instanceof Uint8Array && isUtf8(cell) ? Buffer.from(cell).toString() : cell;
}

/** Like {@link decoded}, but removes the space around text, and returns undefined for null. */
function trimmed(cell: unknown): unknown {
  const value = decoded(cell);
  return typeof value === "string" ? value.trim() : (value ?? undefined);
}

/** Returns a cell as text. An array of one element must not look like that element, so it is none. */
function asText(cell: unknown): string {
  return typeof cell === "object" ? "" : String(cell);
}
