/**
 * Reads the records in the tables of a folder of CSV files, or of a database that SELECTs are run in.
 * They are validated later, like the lines of a dataset. Reports rows without a record.
 *
 * A source (csv-source.ts, database-source.ts) finds the columns of a file in its header (header.ts),
 * and a table (table.ts) reads its rows in pages. The cells of a row are converted as columns.ts says,
 * and become a record in rows.ts. Users get what other tables have in user-reader.ts.
 */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { type Item, OWN_IDS, type RecordReader, type UnknownColumn } from "../domain/dataset.ts";
import { mustBeId } from "../domain/validation-errors.ts";
import { naming } from "../files/errors.ts";
import { asFile, isFolder } from "../files/input.ts";
import type { IdFormat } from "./cells.ts";
import { idColumnOf, type TableName, tableNames, tableOf } from "./columns.ts";
import { readCompanies } from "./companies.ts";
import { type CsvOptions, openCsvSource } from "./csv-source.ts";
import { openDatabase } from "./database-source.ts";
import type { Dialect } from "./dialects.ts";
import { locate, toItems, toProblem } from "./rows.ts";
import { openTable, type ReadHooks, type Table, type TableSource } from "./table.ts";
import { readUsers } from "./user-reader.ts";

export const DATABASE_TIMEOUT_MS = 120_000;

export interface TableOptions extends ReadHooks, CsvOptions {
  /**
   * How long to wait for a connection to a database, for a program that writes to a SQLite file, and
   * for each page of rows from a server. Defaults to two minutes.
   */
  timeoutMs?: number | undefined;
}

/** Opens a folder of CSV files, or a single one, which has the users. */
export function openCsv(
  path: string,
  ids: IdFormat,
  { onRead, ...options }: TableOptions,
): RecordReader {
  const files: TableFiles = isFolder(path)
    ? findTables(path, "csv")
    : new Map([["users", asFile(path)]]);
  return createReader(openCsvSource(ids, options), files, { onRead });
}

/** A database, and the folder with a SELECT for each table. */
export interface Queries {
  url: string;
  dialect: Dialect;
  folder: string;
}

/** Connects to a database, which may mean to wait until another program has written to it. */
export async function openQueries(
  { folder, ...database }: Queries,
  ids: IdFormat,
  { timeoutMs = DATABASE_TIMEOUT_MS, onRead, onSlow }: TableOptions,
): Promise<RecordReader> {
  if (!isFolder(folder)) throw new Error(`${folder} is not a folder`);
  const files = findTables(folder, "sql");
  const source = await openDatabase({ ...database, timeoutMs }, ids);
  return createReader(source, files, { onRead, onSlow });
}

function createReader(source: TableSource, files: TableFiles, hooks: ReadHooks): RecordReader {
  const tables = new Map<TableName, Table>();
  const unknownColumns: UnknownColumn[] = [];
  const notes: string[] = [];

  /** Opens all files, so that a wrong header is an error before anything is counted. */
  async function openTables(): Promise<void> {
    for (const [name, path] of files) {
      const table = await openTable(source, name, path, hooks);
      tables.set(name, table);
      unknownColumns.push(...table.header.unknown);
      notes.push(...table.header.notes);
    }
    for (const table of tables.values()) await table.count();
  }

  /** Yields all records, and the errors in all other rows. */
  async function* read(): AsyncGenerator<readonly Item[]> {
    await openTables();
    for (const table of tables.values()) {
      const error = mustBeId(idColumnOf(table.name), undefined);
      const rows = await table.listWithoutId();
      yield rows.map((row) => toProblem(table, row, error));
    }

    const companies = await readCompanies(tables);
    const known = { role: new Set<unknown>(), achievement: new Set<unknown>() };
    // A user is written with the name of the company, so companies come before users.
    for (const type of ["role", "achievement", "company"] as const) {
      const table = tables.get(tableOf(type));
      if (!table) continue;
      for await (const rows of table.pages()) {
        const items = toItems(table, type, rows);
        for (const item of items) {
          if (!("record" in item)) continue;
          if (type === "company") companies.add(item.record);
          else known[type].add(item.record.id);
        }
        yield items;
      }
    }
    const named = companies.make();
    if (named) {
      yield named.made.map((record, at) => ({ record, at: at + 1 }));
      notes.push(named.note);
    }
    yield* readUsers(tables, known, companies);

    for (const table of tables.values()) table.finish();
  }

  return {
    ids: OWN_IDS,
    unknownColumns,
    notes,
    read,
    locate: (error) => locate(error, source, tables),
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

/** The paths of files. */
type TableFiles = ReadonlyMap<TableName, string>;

/** Returns the paths of a folder's files, which are named after their tables. */
function findTables(folder: string, ending: "csv" | "sql"): TableFiles {
  const advice = `the files can be ${tableNames.map((name) => `${name}.${ending}`).join(", ")}`;
  const found = new Map<TableName, string>();
  const files = naming(folder, "read", () => readdirSync(folder)).sort();
  for (const file of files) {
    const plain = file.replace(/\s/g, "").toLowerCase();
    if (!/^[^.].*\.(?:csv|sql)$/.test(plain)) continue;

    const table = tableNames.find((name) => `${name}.${ending}` === plain);
    if (!table) {
      const hasUsers = files.some((name) => /^users\./i.test(name));
      const mayBeUsers = ending === "csv" && plain.endsWith("csv") && !hasUsers;
      const rename = mayBeUsers ? "; rename it to users.csv if it has the users" : "";
      throw new Error(`${folder} has the unknown file ${file}${rename}; ${advice}`);
    }
    const other = found.get(table);
    if (other !== undefined) throw new Error(`${folder} has both ${basename(other)} and ${file}`);

    found.set(table, asFile(join(folder, file)));
  }

  for (const file of files) refuseRenamed(folder, file, ending, found);
  if (found.has("users") || found.has("companies")) return found;
  const sheet = ending === "csv" ? files.find((file) => SHEET.test(file)) : undefined;
  const cure = sheet === undefined ? "" : `; save ${sheet} as CSV UTF-8 in users.csv`;
  throw new Error(
    `${folder} has neither users.${ending} nor companies.${ending}${cure}; ${advice}`,
  );
}

/** The files of spreadsheets. */
const SHEET = /^[^.~].*\.(?:xlsx?|ods|numbers)$/i;

/** Throws if a file has the name of a table that was not found, but another format. */
function refuseRenamed(
  folder: string,
  file: string,
  ending: "csv" | "sql",
  found: TableFiles,
): void {
  const [name, ...formats] = file.toLowerCase().split(".");
  const table = tableNames.find((each) => each === name);
  const isText = /^(?:txt|tsv|tab)$/.test(formats.at(-1) ?? "");
  if (!table || formats.length === 0 || found.has(table) || (ending === "sql" && !isText)) return;

  const advice = isText ? "rename it to" : "save it as CSV UTF-8 in";
  throw new Error(`${folder} has ${file}; ${advice} ${table}.${ending}`);
}
