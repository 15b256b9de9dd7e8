/**
 * The six tables that an operator provides as CSV files or as SELECTs, and their columns. A column of
 * `users` may have one of the titles in data/columns.json, which people give it in the languages of
 * the page. Only these exact titles count: a column that is taken for `public` wrongly would publish
 * people.
 */
import titles from "../../data/columns.json" with { type: "json" };
import type { RecordType, UnknownColumn } from "../domain/dataset.ts";
import { findSimilar } from "../domain/invalid-value.ts";
import { lazy } from "../domain/once.ts";
import { printable } from "../domain/text.ts";
import { fold } from "../search/fold.ts";
import { toPublic } from "./cells.ts";

/** The required and the optional columns of each table. */
const tables = {
  roles: [["id", "name", "hierarchy"], []],
  achievements: [["id", "name", "description", "icon", "kind", "tier", "points"], []],
  companies: [["id", "name"], ["member_count"]],
  users: [
    ["id", "public", "name", "created_at"],
    ["avatar_url", "company_id", "company", "company_role"],
  ],
  user_roles: [["user_id", "role_id"], []],
  user_achievements: [["user_id", "achievement_id", "tier", "unlocked_at"], []],
} satisfies Record<string, [string[], string[]]>;
export type TableName = keyof typeof tables;

export const tableNames = Object.keys(tables) as TableName[];

/** The columns that are written. The name of a company is only read. */
export function columnsOf(table: TableName): string[] {
  return tables[table].flat().filter((column) => column !== "company");
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
  /** Says which columns were known by another title, if any were. */
  note?: string | undefined;
}

/** Returns a title without what people write differently. */
function simplify(title: string): string {
  return fold(title).replace(/[\s_-]|[?:*]+$/g, "");
}

/** The columns of users by the other titles that people give them. */
const usersColumns = lazy(() => {
  return new Map(
    Object.entries(titles).flatMap(([column, languages]) => {
      const given = Object.values(languages).flatMap((list) => list.split(", "));
      return given.map((title) => [simplify(title), column] as const);
    }),
  );
});

/** Returns the known column that has a title. */
function findColumn(table: TableName, title: string): string | undefined {
  const name = simplify(title);
  const known = tables[table].flat().find((column) => simplify(column) === name);
  return known ?? (table === "users" ? usersColumns().get(name) : undefined);
}

/** Returns the name of the column that has a title, also of an unknown one. */
export function toColumn(table: TableName, title: string): string {
  return findColumn(table, title) ?? title.trim().toLowerCase().replace(/\s+/g, "_");
}

/** Whether people write the cells of a column, or nobody knows. The others have ids, times and such. */
export function hasFreeText(column: string): boolean {
  return !/(?:^|_)(?:id|at|url|count)$|^(?:public|hierarchy|tier|points)$/.test(column);
}

/**
 * Finds the columns of a table. `key` is the title of the one that is taken as the id. Throws if a
 * column is missing, or if two fit.
 */
export function findColumns(
  file: string,
  table: TableName,
  header: readonly string[],
  key?: string,
): Header {
  const columns = new Map<string, number>();
  if (key !== undefined) columns.set("id", findKey(file, table, header, key));
  const keyAt = columns.get("id");

  for (const [at, title] of header.entries()) {
    const column = findColumn(table, title);
    if (column === undefined || (column === "id" && key !== undefined)) continue;
    // A company's name and its id say the same.
    const rival = { company: "company_id", company_id: "company" }[column] ?? column;
    const other = columns.get(column) ?? columns.get(rival);
    if (other !== undefined) {
      const both = `${quoted(header[other])} and ${quoted(title)}`;
      throw new Error(`${file}: ${both} both fit ${column}; remove one, or rename it`);
    }
    columns.set(column, at);
  }
  // A role without a company is nothing.
  if (!columns.has("company") && !columns.has("company_id")) columns.delete("company_role");

  const absent = tables[table].flat().filter((column) => !columns.has(column));
  const found = new Set(columns.values());
  const unknown = header.flatMap((title, at) => {
    if (found.has(at) || title.trim() === "") return [];
    const isKnown = findColumn(table, title) !== undefined;
    return [
      { file, column: title.trim(), meant: isKnown ? undefined : guessColumn(title, absent) },
    ];
  });

  refuseMissing(file, table, header, columns, unknown);
  return { columns, unknown, note: describeTaken(file, header, columns, keyAt) };
}

/** Finds the column that an operator has named, by its title or by what it is. */
function findKey(file: string, table: TableName, header: readonly string[], key: string): number {
  const at = header.findIndex((title) => simplify(title) === simplify(key));
  const known = at < 0 ? header.findIndex((title) => findColumn(table, title) === key) : at;
  if (known >= 0) return known;
  throw new Error(
    `${file} has no column ${quoted(key)} for --key; it has ${header.map(quoted).join(", ")}`,
  );
}

const quoted = (title = "") => `"${printable(title.trim())}"`;

/** Guesses which of the columns that are absent somebody means by an unknown title. */
function guessColumn(title: string, absent: readonly string[]): string | undefined {
  const others = [...usersColumns()].filter(([, column]) => absent.includes(column));
  const known = new Map([
    ...others,
    ...absent.map((column) => [simplify(column), column] as const),
  ]);
  // Whoever renames a column as advised publishes it. Invisible is visible but for two letters, phone
  // is photo, and bank is rank but for one.
  const name = simplify(title);
  const similar = name.length > 4 ? findSimilar(name, [...known.keys()], 1) : undefined;
  if (similar !== undefined) return known.get(similar);
  return absent.find((column) => column.startsWith(`${name}_`));
}

/** Whether a text is a cell of a row, and no title: it has a digit or an at sign, or is yes or no. */
const isCell = (text: string) => /[\d@]/.test(text) || typeof toPublic(text) === "boolean";
/** How many titles an error lists. */
const MAX_LISTED = 30;

/** Throws if a required column is missing. The error lists what was found, and what may be meant. */
function refuseMissing(
  file: string,
  table: TableName,
  header: readonly string[],
  columns: ReadonlyMap<string, number>,
  unknown: readonly UnknownColumn[],
): void {
  const missing = tables[table][0].filter((column) => !columns.has(column));
  if (missing.length === 0) return;

  const known = tables[table].flat().join(", ");
  if (columns.size === 0 && header.some(isCell)) {
    // The first line may be somebody's row, so it is not quoted.
    throw new Error(
      `${file} does not begin with the names of columns; the columns can be ${known}`,
    );
  }

  const taken = Array.from(columns, ([column, at]) => describeTitle(header[at], column));
  const others = unknown.map(({ column, meant }) => describeTitle(column, meant && `${meant}?`));
  const listed = [...taken, ...others].slice(0, MAX_LISTED).join(", ");

  const isQuery = file.endsWith(".sql");
  const hasTitles = columns.size > 0 || isQuery;
  const cures = hasTitles ? [] : ["the first line must have the names of the columns"];
  if (missing.some((column) => column !== "id"))
    cures.push("rename those that are meant, or add them");
  if (missing.includes("id") && table === "users") cures.push(isQuery ? "select an id" : ADD_ID);
  throw new Error(
    `${file}: no column is ${missing.join(" or ")}; found ${listed}; ${cures.join("; ")}`,
  );
}

const ADD_ID =
  "add a column id with a number that stays each person's, or take another column as the id with --key COLUMN --id-map FILE";

/** Quotes a title with what it is, unless the title says it. */
function describeTitle(title = "", column: string | undefined): string {
  const isSaid = column === undefined || simplify(title) === simplify(column);
  return isSaid ? quoted(title) : `${quoted(title)} (${column})`;
}

function describeTaken(
  file: string,
  header: readonly string[],
  columns: ReadonlyMap<string, number>,
  keyAt: number | undefined,
): string | undefined {
  const taken = header.flatMap((title, at) => {
    const known = [...columns.keys()].filter((column) => {
      return columns.get(column) === at && simplify(title) !== simplify(column);
    });
    return known.length > 0 ? [`${quoted(title)} as ${known.join(" and ")}`] : [];
  });
  if (taken.length === 0) return undefined;

  const note = `${file}: took ${taken.join(", ")}`;
  if (keyAt === undefined) return note;
  return `${note}; if somebody's ${quoted(header[keyAt])} changes, that is a new person`;
}

/** The column that identifies a row, or for user_roles and user_achievements the row's user. */
export function idColumnOf(table: TableName): "id" | "user_id" {
  return table.startsWith("user_") ? "user_id" : "id";
}
