/**
 * Reads the records in the tables of a folder of CSV files, or of a database that SELECTs are run in.
 * They are validated later, like the lines of a dataset. Reports rows without a record.
 */
import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import {
  type Item,
  OWN_IDS,
  type RawRecord,
  type RecordReader,
  type UnknownColumn,
} from "../domain/dataset.ts";
import { mustBeId } from "../domain/validation-errors.ts";
import { naming } from "../files/errors.ts";
import { isFolder } from "../files/input.ts";
import type { IdFormat } from "./cells.ts";
import { idColumnOf, type TableName, tableNames } from "./columns.ts";
import { type CompanyNames, createCompanyNames } from "./company-names.ts";
import { type CsvOptions, openCsvSource } from "./csv-source.ts";
import { openDatabase } from "./database-source.ts";
import { createRowConverter, type RowConverter } from "./row-converter.ts";
import { createTable, type ReadHooks, type Table, type TableSource, type Tables } from "./table.ts";
import { readUserPages } from "./user-reader.ts";

export const DATABASE_TIMEOUT_MS = 120_000;

export interface TableOptions extends ReadHooks, CsvOptions {
  /** How long to wait for each page of rows from a database server. Defaults to two minutes. */
  timeoutMs?: number | undefined;
}

/** Opens a folder of CSV files, or a single one, which has the users. */
export function openCsv(
  path: string,
  ids: IdFormat,
  { onRead, ...options }: TableOptions,
): RecordReader {
  const files = isFolder(path)
    ? findTables(path, "csv")
    : new Map<TableName, string>([["users", asFile(path)]]);
  return createReader(openCsvSource(ids, options), files, ids, { onRead });
}

/** Opens the database at a URL, with the SELECTs in the folder `queries`. */
export async function openQueries(
  url: string,
  queries: string,
  ids: IdFormat,
  { timeoutMs = DATABASE_TIMEOUT_MS, onRead, onSlow }: TableOptions,
): Promise<RecordReader> {
  if (!isFolder(queries)) throw new Error(`${queries} is not a folder`);
  const files = findTables(queries, "sql");
  const source = await openDatabase(url, timeoutMs);
  return createReader(source, files, ids, { onRead, onSlow });
}

/** Returns the paths of a folder's files, which are named after their tables. */
function findTables(folder: string, ending: "csv" | "sql"): Map<TableName, string> {
  const advice = `the files can be ${tableNames.map((name) => `${name}.${ending}`).join(", ")}`;
  const found = new Map<TableName, string>();
  const names = naming(folder, "read", () => readdirSync(folder)).sort();
  for (const file of names) {
    if (!/^[^.].*\.(?:csv|sql)\s*$/i.test(file)) continue;

    const plain = file.replace(/\s/g, "").toLowerCase();
    const table = tableNames.find((name) => `${name}.${ending}` === plain);
    if (!table) {
      const isUsers =
        ending === "csv" && plain.endsWith("csv") && !names.some((name) => /^users\./i.test(name));
      const rename = isUsers ? "; rename it to users.csv if it has the users" : "";
      throw new Error(`${folder} has the unknown file ${file}${rename}; ${advice}`);
    }
    const other = found.get(table);
    if (other !== undefined) throw new Error(`${folder} has both ${basename(other)} and ${file}`);

    found.set(table, asFile(join(folder, file)));
  }

  for (const file of names) refuseRenamed(folder, file, ending, found);
  if (found.has("users") || found.has("companies")) return found;
  const sheet = ending === "csv" ? names.find((file) => SHEET.test(file)) : undefined;
  const cure = sheet === undefined ? "" : `; save ${sheet} as CSV UTF-8 in users.csv`;
  throw new Error(
    `${folder} has neither users.${ending} nor companies.${ending}${cure}; ${advice}`,
  );
}

/** Returns the path of a regular file. A takedown could wait forever while a FIFO is read. */
function asFile(path: string): string {
  const stats = naming(path, "read", () => statSync(path));
  if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
  return path;
}

/** The files of spreadsheets. */
const SHEET = /^[^.~].*\.(?:xlsx?|ods|numbers)$/i;

/** Throws if a file has the name of a table that was not found, but another format. */
function refuseRenamed(
  folder: string,
  file: string,
  ending: "csv" | "sql",
  found: ReadonlyMap<TableName, string>,
): void {
  const [name = "", ...formats] = file.toLowerCase().split(".");
  const table = tableNames.find((each) => each === name);
  const isText = /^(?:txt|tsv|tab)$/.test(formats.at(-1) ?? "");
  if (!table || formats.length === 0 || found.has(table) || (ending === "sql" && !isText)) return;

  const advice = isText ? "rename it to" : "save it as CSV UTF-8 in";
  throw new Error(`${folder} has ${file}; ${advice} ${table}.${ending}`);
}

function createReader(
  source: TableSource,
  files: ReadonlyMap<TableName, string>,
  ids: IdFormat,
  hooks: ReadHooks,
): RecordReader {
  const converter = createRowConverter(source, ids);
  const unknownColumns: UnknownColumn[] = [];
  const notes: string[] = [];
  /** The companies that users name, once these names have been read. */
  let names: CompanyNames | undefined;

  /** Opens all files, so that a wrong header is an error before anything is counted. */
  async function openTables(): Promise<Tables> {
    const tables = new Map<TableName, Table>();
    for (const [name, path] of files) {
      const selected = await source.open(name, path);
      const { unknown, note } = selected.header;
      unknownColumns.push(...unknown);
      if (note !== undefined) notes.push(note);
      notes.push(...selected.notes);
      tables.set(name, createTable(source, name, selected, hooks));
    }
    for (const table of tables.values()) await table.count();
    return tables;
  }

  /** Yields the errors in rows without an id, which are in no page. */
  async function* readWithoutId(tables: Tables): AsyncGenerator<Item[]> {
    for (const [name, table] of tables) {
      const rows = await table.listWithoutId();
      yield rows.map((row) =>
        converter.toProblem(name, row, mustBeId(idColumnOf(name), undefined)),
      );
    }
  }

  /** Reads how users write the names of their companies. */
  async function readNames(users: Table): Promise<CompanyNames> {
    const names = createCompanyNames(
      files.has("companies") ? source.fileOf("companies") : undefined,
    );
    const columns = `${source.dialect.cast("q.company")} AS company, q.public AS public, COUNT(*) AS users`;
    for (const row of await users.query("GROUP BY 1, 2", columns)) {
      const { company, public: isPublic } = converter.toCells(row);
      names.add(company, isPublic === true, Number(row.users));
    }
    return names;
  }

  /** Yields all records of a type. Calls `see` with each of them first. */
  async function* readAll(
    table: Table | undefined,
    type: "role" | "achievement" | "company",
    see: (record: RawRecord) => void,
  ): AsyncGenerator<Item[]> {
    for await (const rows of table?.pages() ?? []) {
      const items = converter.toRecords(type, rows);
      for (const item of items) {
        if ("record" in item) see(item.record);
      }
      yield items;
    }
  }

  /** Yields all records, and the errors in all other rows. */
  async function* read(): AsyncGenerator<readonly Item[]> {
    const tables = await openTables();
    yield* readWithoutId(tables);

    const users = tables.get("users");
    if (users?.header.columns.has("company")) names = await readNames(users);
    const members = await countMembers(users, converter);
    const known = { role: new Set<unknown>(), achievement: new Set<unknown>() };
    yield* readAll(tables.get("roles"), "role", ({ id }) => known.role.add(id));
    yield* readAll(tables.get("achievements"), "achievement", ({ id }) =>
      known.achievement.add(id),
    );
    // A user is written with the name of the company, so companies come before users.
    yield* readAll(tables.get("companies"), "company", (company) => {
      names?.know(company);
      const count = names?.countMembers(company.name) ?? members.get(company.id);
      company.member_count ??= count ?? 0;
    });
    if (names && !tables.has("companies")) {
      yield names.make().map((record, at) => ({ record, at: at + 1 }));
      notes.push(`${source.fileOf("users")}: ${names.describe()}`);
    }
    yield* readUserPages(tables, converter, known, names);

    for (const table of tables.values()) table.finish();
  }

  return {
    ids: OWN_IDS,
    unknownColumns,
    notes,
    read,
    locate: (error) => converter.locate(error, names),
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

/** Counts how many users each company has. */
async function countMembers(
  users: Table | undefined,
  { toCells }: RowConverter,
): Promise<Map<unknown, number>> {
  const members = new Map<unknown, number>();
  if (!users?.header.columns.has("company_id")) return members;

  const columns = "q.company_id AS company_id, COUNT(*) AS members";
  for (const row of await users.query("GROUP BY q.company_id", columns)) {
    const id = toCells(row).company_id;
    members.set(id, (members.get(id) ?? 0) + Number(row.members));
  }
  return members;
}
