/** Recognises and opens the sources that are tables: databases, and folders of CSV files. */
import { statSync } from "node:fs";
import { findTables } from "./columns.ts";
import { openCsv } from "./csv.ts";
import type { IdMapOptions } from "./id-map.ts";
import type { Reporting } from "./queries.ts";
import { TableReader } from "./read-tables.ts";

export interface TableOptions extends Reporting, IdMapOptions {
  /** The folder with a SELECT for each table, if the source is a database. */
  queries?: string | undefined;
  /** How long to wait for each page of rows from a database server. */
  timeoutMs?: number | undefined;
}

const URLS = "a postgres://, mysql://, mariadb:// or sqlite: URL";

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The problem follows the name of the source, which may have a password, so it is not repeated. */
export function findProblem(source: string, queries: string | undefined): string | undefined {
  const isDatabase = /^(?:postgres(?:ql)?|mysql|mariadb|sqlite):/i.test(source);
  if (queries === undefined) {
    if (isDatabase) return "is a database; name the folder of its SELECTs with --queries";
    const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(source);
    return isUrl ? `must be a file, a folder, - or ${URLS}` : undefined;
  }
  const { host, pathname, search, hash } = URL.parse(source) ?? {};
  // A password with / ? or # would end the host.
  const isServer = host && !`${pathname}${search}${hash}`.includes("@");
  if (isDatabase && (isServer || /^sqlite:./i.test(source))) return undefined;
  return `must be ${URLS}; write special characters in a password as %XX, such as %23 for #`;
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
  if (!process.versions.bun) {
    throw new Error("databases need the executable or Bun; on Node.js, import NDJSON or CSV");
  }
  if (!isFolder(queries)) throw new Error(`${queries} is not a folder`);
  const files = findTables(queries, "sql");
  const { openDatabase } = await import("./database.ts");
  return new TableReader(await openDatabase(source, timeoutMs), files, options);
}
