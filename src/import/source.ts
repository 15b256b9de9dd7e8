/** Finds out what a source is, or why it can be none, and opens the reader that fits. */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { InvalidValue } from "../domain/invalid-value.ts";
import type { Item, RecordReader } from "../domain/records.ts";
import { naming, toFileError } from "../files/errors.ts";
import { asFile, isFolder } from "../files/input.ts";
import { isUrl, STANDARD } from "../files/input-kind.ts";
import { isSnapshot } from "../snapshot/format/layout.ts";
import { readMeta } from "../snapshot/format/meta.ts";
import { openPrivate } from "../snapshot/format/open.ts";
import { listRecords } from "../snapshot/format/records.ts";
import type { Database } from "../sqlite/driver.ts";
import { idFormats, type TableName, tableNames } from "../tables/columns.ts";
import { type CsvOptions, openCsvSource } from "../tables/csv-source.ts";
import { DATABASE_TIMEOUT_MS, openDatabase } from "../tables/database-source.ts";
import { type Dialect, dialects } from "../tables/dialects.ts";
import type { ReadHooks } from "../tables/table.ts";
import { createReader } from "../tables/table-reader.ts";
import { type LineOptions, type LineSource, openLines } from "./line-reader.ts";
import type { WriteOptions } from "./target.ts";

/** How many records of a snapshot are read between two looks at signals. */
const BATCH = 500;

export interface SourceOptions
  extends CsvOptions,
    LineOptions,
    ReadHooks,
    Pick<WriteOptions, "idMap"> {
  /**
   * How long to wait for a connection to a database, for a program that writes to a SQLite file, and
   * for each page of rows from a server. Defaults to two minutes.
   */
  timeoutMs?: number | undefined;
}

/** Where records come from, and as what they are read. */
export type Source =
  | { kind: "lines"; lines: LineSource }
  | { kind: "csv" | "snapshot"; path: string }
  /** A database, and the folder with a SELECT for each table. */
  | { kind: "database"; url: string; dialect: Dialect; folder: string };

/**
 * Finds out what lines, a path or a URL are. Throws an {@link InvalidValue} if nothing can be at a
 * path or URL. The error does not repeat it, because a URL may have a password.
 */
export function findSource(given: LineSource, queries?: string): Source {
  if (typeof given !== "string") return { kind: "lines", lines: given };
  if (queries !== undefined) {
    return { kind: "database", url: given, dialect: dialectOf(given), folder: queries };
  }
  if (findDialect(given))
    throw new InvalidValue("is a database; import it with a folder of SELECTs (--queries FOLDER)");
  if (isUrl(given)) throw new InvalidValue(`must be a file, a folder, - or ${DATABASE_URLS}`);

  // A folder or a snapshot of that name can be given as ./-.
  if (given === STANDARD) return { kind: "lines", lines: given };
  if (isFolder(given) || /\.csv$/i.test(given)) return { kind: "csv", path: given };
  if (/\.csv\.gz$/i.test(given)) {
    throw new InvalidValue("is a compressed table; unpack it with gunzip");
  }
  if (isSnapshot(given)) return { kind: "snapshot", path: given };
  return { kind: "lines", lines: given };
}

const DATABASE_URLS = "a postgres://, mysql://, mariadb:// or sqlite: URL";

/** Returns undefined unless a database can be at the URL. */
function findDialect(url: string): Dialect | undefined {
  return Object.values<Dialect>(dialects).find(({ scheme }) => scheme.test(url));
}

/** Returns the dialect of the database at a URL. Throws if the URL is not complete. */
function dialectOf(url: string): Dialect {
  const dialect = findDialect(url);
  const isComplete = dialect === dialects.sqlite ? /:./.test(url) : isReadable(url);
  if (!dialect || !isComplete) {
    const advice = "write special characters in it as %XX, such as %23 for # and %25 for %";
    throw new InvalidValue(`must be ${DATABASE_URLS}; ${advice}`);
  }

  // Only these servers have no default.
  const isNameless = dialect === dialects.mysql && /^\/?$/.test(URL.parse(url)?.pathname ?? "");
  if (!isNameless) return dialect;
  throw new InvalidValue("must name the database, as in mysql://reader@127.0.0.1/platform");
}

/** False for a password with / ? or #, which would end the host, and for a % that encodes nothing. */
function isReadable(url: string): boolean {
  const { host, username, password, pathname, search, hash } = URL.parse(url) ?? {};
  try {
    decodeURIComponent(`${username}${password}${pathname}`);
  } catch {
    return false;
  }
  return Boolean(host) && !`${pathname}${search}${hash}`.includes("@");
}

/** Opens the reader that fits. Only with an id map, tables may have ids of any kind. */
export async function openReader(
  source: Source,
  options: SourceOptions = {},
): Promise<RecordReader> {
  const ids = options.idMap === undefined ? idFormats.integers : idFormats.keys;
  switch (source.kind) {
    case "lines":
      return openLines(source.lines, options);
    case "csv": {
      const { path } = source;
      const files = isFolder(path)
        ? findTables(path, "csv")
        : new Map([["users", asFile(path)] as const]);
      return createReader(openCsvSource(ids, options), files, { onRead: options.onRead });
    }
    case "database": {
      const { folder, url, dialect } = source;
      const files = findTables(folder, "sql");
      const { timeoutMs = DATABASE_TIMEOUT_MS } = options;
      return createReader(await openDatabase({ url, dialect, timeoutMs }, ids), files, options);
    }
    case "snapshot":
      return openRecords(source.path);
  }
}

/** The paths of the files of tables. */
type TableFiles = ReadonlyMap<TableName, string>;

/** Returns the paths of a folder's files, which are named after their tables. */
function findTables(folder: string, ending: "csv" | "sql"): TableFiles {
  if (!isFolder(folder)) throw new Error(`${folder} is not a folder`);
  const advice = `the files can be ${tableNames.map((name) => `${name}.${ending}`).join(", ")}`;
  const found = new Map<TableName, string>();
  const files = naming(folder, "read", () => readdirSync(folder)).sort();
  for (const file of files) {
    const plain = splitName(file).join(".");
    if (!/^[^.].*\.(?:csv|sql)$/.test(plain)) continue;

    const table = tableNames.find((name) => `${name}.${ending}` === plain);
    if (!table) throw new Error(`${folder} has the unknown file ${file}; ${advice}`);
    const other = found.get(table);
    if (other !== undefined) throw new Error(`${folder} has both ${basename(other)} and ${file}`);

    found.set(table, asFile(join(folder, file)));
  }

  for (const file of files) refuseRenamed(folder, file, ending, found);
  if (found.has("users") || found.has("companies")) return found;
  throw new Error(`${folder} has neither users.${ending} nor companies.${ending}; ${advice}`);
}

/** Splits the name of a file at its dots, and writes the parts as the names of tables are written. */
function splitName(file: string): string[] {
  const parts = file.toLowerCase().split(".");
  return parts.map((part) => part.trim().replace(/\s+/g, "_"));
}

/**
 * Throws if a file has the name of a table that was not found, but another format. A folder of queries may
 * also have data, such as a spreadsheet of users.
 */
function refuseRenamed(
  folder: string,
  file: string,
  ending: "csv" | "sql",
  found: TableFiles,
): void {
  const [name, ...formats] = splitName(file);
  const table = tableNames.find((each) => each === name);
  const format = formats.at(-1) ?? "";
  if (!table || formats.length === 0 || found.has(table)) return;

  let cure = ending === "csv" ? "save it as CSV UTF-8 in" : undefined;
  if (/^(?:txt|tsv|tab)$/.test(format)) cure = "rename it to";
  if (format === "gz" && formats[0] === ending) cure = "unpack it with gunzip as";
  if (cure) throw new Error(`${folder} has ${file}; ${cure} ${table}.${ending}`);
}

async function openRecords(path: string): Promise<RecordReader> {
  const { db } = await openPrivate(path);
  return {
    ids: { kind: "snapshot", mark: readMeta(db).id_map },
    read: () => readSnapshot(path, db),
    notes: [],
    unknownColumns: [],
    // A snapshot has no lines, so only the file is named.
    locate: (error) => ({ error: { ...error, place: path }, isNamed: false }),
    [Symbol.asyncDispose]: async () => db.$client.close(),
  };
}

async function* readSnapshot(path: string, db: Database): AsyncGenerator<Item[]> {
  try {
    let batch: Item[] = [];
    for (const record of listRecords(db)) {
      batch.push({ record });
      if (batch.length < BATCH) continue;

      yield batch;
      batch = [];
      await setImmediate();
    }
    yield batch;
  } catch (error) {
    throw toFileError(path, "read", error);
  }
}
