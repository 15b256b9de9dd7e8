/** Recognises and opens the sources that are tables: databases, and folders of CSV files. */
import { statSync } from "node:fs";
import { findTables } from "./columns.ts";
import { openCsv } from "./csv.ts";
import { findProblem, openDatabase } from "./database.ts";
import type { IdMapOptions } from "./id-map.ts";
import type { Reporting } from "./queries.ts";
import { TableReader } from "./read-tables.ts";

export interface TableOptions extends Reporting, IdMapOptions {
  /** The folder with a SELECT for each table, if the source is a database. */
  queries?: string | undefined;
  /** How long to wait for each page of rows from a database server. */
  timeoutMs?: number | undefined;
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Opens a database or a folder of CSV files. Returns undefined if `source` is something else. */
export async function openTables(
  source: unknown,
  { queries, timeoutMs = 120_000, idMap, ...reporting }: TableOptions,
): Promise<TableReader | undefined> {
  if (typeof source !== "string") return undefined;
  const options = { ...reporting, hasKeys: idMap !== undefined };
  const problem = findProblem(source, queries);
  if (problem !== undefined) throw new Error(`the source ${problem}`);
  if (queries === undefined) {
    if (!isFolder(source)) return undefined;
    return new TableReader(openCsv(options.hasKeys), findTables(source, "csv"), options);
  }
  if (!isFolder(queries)) throw new Error(`${queries} is not a folder`);
  const files = findTables(queries, "sql");
  return new TableReader(await openDatabase(source, timeoutMs), files, options);
}
