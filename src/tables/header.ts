/**
 * Finds the columns of a table by their titles. A column of `users` may have one of the titles in
 * data/columns.json, which people give it in the languages of the page. Only these exact titles count:
 * a column that is taken for `public` wrongly would publish people.
 */
import titlesOfUsers from "../../data/columns.json" with { type: "json" };
import { findSimilar } from "../domain/invalid-value.ts";
import { lazy } from "../domain/lazy.ts";
import type { UnknownColumn } from "../domain/records.ts";
import { printable } from "../domain/text.ts";
import { fold } from "../search/fold.ts";
import { type ColumnName, columnsOf, type TableName, tableColumns, toPublic } from "./columns.ts";

export interface Header {
  /** The index of each known column. */
  columns: ReadonlyMap<ColumnName, number>;
  unknown: UnknownColumn[];
  /** Says which columns were known by another title, if any were. */
  notes: string[];
}

/** Returns a title without what people write differently. */
function simplify(title: string): string {
  return fold(title).replace(/[\s_-]|[?:*]+$/g, "");
}

/** The columns of users by the other titles that people give them. */
const usersColumns = lazy(() => {
  const titles: Partial<Record<ColumnName, Record<string, string>>> = titlesOfUsers;
  return new Map(
    columnsOf("users").flatMap((column) => {
      const given = Object.values(titles[column] ?? {}).flatMap((list) => list.split(", "));
      return given.map((title) => [simplify(title), column] as const);
    }),
  );
});

/** Returns the column of a table that a title stands for; undefined if the title is unknown. */
export function findTitled(table: TableName, title: string): ColumnName | undefined {
  const name = simplify(title);
  const column = columnsOf(table).find((each) => simplify(each) === name);
  return column ?? (table === "users" ? usersColumns().get(name) : undefined);
}

/**
 * Finds the columns of a table. The one titled `idTitle` is taken as the id. Throws if a column is
 * missing, or if two fit.
 */
export function findColumns(
  file: string,
  table: TableName,
  titles: readonly string[],
  idTitle?: string,
): Header {
  const columns = new Map<ColumnName, number>();
  if (idTitle !== undefined) columns.set("id", findIdColumn(file, table, titles, idTitle));

  for (const [at, title] of titles.entries()) {
    const column = findTitled(table, title);
    if (column === undefined || (column === "id" && idTitle !== undefined)) continue;
    const other = columns.get(column) ?? columns.get(RIVALS[column] ?? column);
    if (other !== undefined) {
      const both = `${quoted(titles[other])} and ${quoted(title)}`;
      throw new Error(`${file}: ${both} both fit ${column}; remove one, or rename it`);
    }
    columns.set(column, at);
  }
  // A company_role means nothing without a company.
  if (!columns.has("company") && !columns.has("company_id")) columns.delete("company_role");

  const absent = columnsOf(table).filter((column) => !columns.has(column));
  const unknown: UnknownColumn[] = [];
  const renamed: string[] = [];
  for (const [at, title] of titles.entries()) {
    const taken = [...columns.keys()].filter((column) => columns.get(column) === at);
    const others = taken.filter((column) => simplify(column) !== simplify(title));
    if (others.length > 0) renamed.push(`${quoted(title)} as ${others.join(" and ")}`);
    if (taken.length > 0 || title.trim() === "") continue;

    const isKnown = findTitled(table, title) !== undefined;
    const meant = isKnown ? undefined : guessColumn(title, absent);
    unknown.push({ file, column: title.trim(), meant });
  }
  refuseMissing(file, table, titles, columns, unknown);
  const notes = renamed.length === 0 ? [] : [`${file}: took ${renamed.join(", ")}`];
  return { columns, unknown, notes };
}

/** A company's name and its id say the same. */
const RIVALS: Partial<Record<ColumnName, ColumnName>> = {
  company: "company_id",
  company_id: "company",
};

/** Finds the column that an operator has named, by its title or by what it is. */
function findIdColumn(
  file: string,
  table: TableName,
  titles: readonly string[],
  name: string,
): number {
  const named = titles.findIndex((title) => simplify(title) === simplify(name));
  const at = named < 0 ? titles.findIndex((title) => findTitled(table, title) === name) : named;
  if (at >= 0) return at;
  throw new Error(
    `${file} has no column ${quoted(name)} for --key; it has ${titles.map(quoted).join(", ")}`,
  );
}

const quoted = (title = "") => `"${printable(title.trim())}"`;

/** Guesses which of the absent columns an unknown title stands for. */
function guessColumn(title: string, absent: readonly ColumnName[]): ColumnName | undefined {
  const others = [...usersColumns()].filter(([, column]) => absent.includes(column));
  const names = absent.map((column) => [simplify(column), column] as const);
  const possible = new Map([...others, ...names]);
  // An operator who renames a column as advised publishes it. Invisible is visible but for two letters,
  // phone is photo, and bank is rank but for one.
  const name = simplify(title);
  const similar = name.length > 4 ? findSimilar(name, [...possible.keys()], 1) : undefined;
  if (similar !== undefined) return possible.get(similar);
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
  titles: readonly string[],
  columns: Header["columns"],
  unknown: readonly UnknownColumn[],
): void {
  const missing = tableColumns[table].required.filter((column) => !columns.has(column));
  if (missing.length === 0) return;

  if (columns.size === 0 && titles.some(isCell)) {
    // The first line may be the row of a user, so it is not quoted.
    const possible = columnsOf(table).join(", ");
    throw new Error(
      `${file} does not begin with the names of columns; the columns can be ${possible}`,
    );
  }

  const found = Array.from(columns, ([column, at]) => describeTitle(titles[at], column));
  const others = unknown.map(({ column, meant }) => describeTitle(column, meant && `${meant}?`));
  const listed = [...found, ...others].slice(0, MAX_LISTED).join(", ");

  const isSheet = columns.size > 0 && table === "users" && !file.endsWith(".sql");
  const cure = isSheet && missing.includes("id") ? ADD_ID : "";
  throw new Error(`${file}: no column is ${missing.join(" or ")}; found ${listed}${cure}`);
}

const ADD_ID =
  "; add a column id with a number that stays each person's, or take another column as the id with --key COLUMN --id-map FILE";

/** Quotes a title with what it is, unless the title says it. */
function describeTitle(title = "", column = title): string {
  const isSaid = simplify(title) === simplify(column);
  return isSaid ? quoted(title) : `${quoted(title)} (${column})`;
}
