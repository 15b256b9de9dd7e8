/**
 * Reads the records in the tables of a folder of CSV files, or of a database that SELECTs are run in.
 * They are validated later, like the lines of a dataset. Reports rows without a record.
 *
 * A source (csv-source.ts, database-source.ts) finds the columns of a file in its header (header.ts),
 * and a table (table.ts) reads its rows in pages. The cells of a row are converted as columns.ts says,
 * and become a record in rows.ts. Users get what other tables have in user-reader.ts.
 */
import { type Item, OWN_IDS, type RecordReader, type UnknownColumn } from "../domain/dataset.ts";
import { mustBeId } from "../domain/validation-errors.ts";
import { isFolder } from "../files/input.ts";
import type { IdFormat } from "./cells.ts";
import { idColumnOf, type TableName, tableOf } from "./columns.ts";
import { readCompanies } from "./companies.ts";
import { type CsvOptions, openCsvSource } from "./csv-source.ts";
import { openDatabase } from "./database-source.ts";
import { locate, toItems, toProblem } from "./rows.ts";
import { openTable, type ReadHooks, type Table, type TableSource } from "./table.ts";
import { asFile, findTables, type TableFiles } from "./table-files.ts";
import { readUsers } from "./user-reader.ts";

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
  const files: TableFiles = isFolder(path)
    ? findTables(path, "csv")
    : new Map([["users", asFile(path)]]);
  return createReader(openCsvSource(ids, options), files, { onRead });
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
  const source = await openDatabase(url, ids, timeoutMs);
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
