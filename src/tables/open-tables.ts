/** Opens the tables of a folder of CSV files, or of a database that SELECTs are run in. */
import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { DATABASE_TIMEOUT_MS } from "../domain/limits.ts";
import type { RecordReader } from "../domain/record-reader.ts";
import { naming } from "../files/errors.ts";
import { isFolder } from "../files/input.ts";
import { type IdKind, idFormats } from "./cells.ts";
import { type TableName, tableNames } from "./columns.ts";
import { type CsvOptions, CsvSource } from "./csv-source.ts";
import { connect } from "./database-connection.ts";
import { DatabaseSource } from "./database-source.ts";
import type { ReadHooks } from "./table.ts";
import { TableReader } from "./table-reader.ts";

export interface TableOptions extends ReadHooks, CsvOptions {
  /** How long to wait for each page of rows from a database server. */
  timeoutMs?: number | undefined;
}

/** Opens a folder of CSV files, or a single one, which has the users. */
export function openCsv(
  path: string,
  idKind: IdKind,
  { onRead, ...options }: TableOptions,
): RecordReader {
  const files = isFolder(path)
    ? findTables(path, "csv")
    : new Map<TableName, string>([["users", path]]);
  const ids = idFormats[idKind];
  return new TableReader(new CsvSource(ids, options), files, ids, { onRead });
}

/** Opens the database at a URL, with the SELECTs in the folder `queries`. */
export async function openQueries(
  url: string,
  queries: string,
  idKind: IdKind,
  { timeoutMs = DATABASE_TIMEOUT_MS, onRead, onSlow }: TableOptions,
): Promise<RecordReader> {
  if (!isFolder(queries)) throw new Error(`${queries} is not a folder`);
  const files = findTables(queries, "sql");
  const source = new DatabaseSource(await connect(url, timeoutMs));
  return new TableReader(source, files, idFormats[idKind], { onRead, onSlow });
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
    if (!table) throw new Error(`${folder} has the unknown file ${file}; ${advice}`);
    const other = found.get(table);
    if (other !== undefined) throw new Error(`${folder} has both ${basename(other)} and ${file}`);

    const path = join(folder, file);
    // Reading a FIFO could take forever, and meanwhile a takedown would wait for the lock.
    const stats = naming(path, "read", () => statSync(path));
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    found.set(table, path);
  }

  for (const file of names) refuseRenamed(folder, file, ending, found);
  if (found.has("users") || found.has("companies")) return found;
  throw new Error(`${folder} has neither users.${ending} nor companies.${ending}; ${advice}`);
}

/** Throws if a file is that of a table which was not found, saved in another format. */
function refuseRenamed(
  folder: string,
  file: string,
  ending: "csv" | "sql",
  found: ReadonlyMap<TableName, string>,
): void {
  const [, name, format] =
    /^(\w+)\.(?:(?:csv|sql)\.)?(txt|tsv|tab|xlsx?|ods|numbers)$/i.exec(file) ?? [];
  const table = tableNames.find((each) => each === name?.toLowerCase());
  const isText = /^t/i.test(format ?? "");
  if (!table || found.has(table) || (ending === "sql" && !isText)) return;

  const advice = isText ? "rename it to" : "save it as CSV UTF-8 in";
  throw new Error(`${folder} has ${file}; ${advice} ${table}.${ending}`);
}
