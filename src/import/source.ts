/** Finds out what a source is, or why it can be none, and opens the reader that fits. */
import { setImmediate } from "node:timers/promises";
import type { Item, RecordReader } from "../domain/dataset.ts";
import { InvalidValue } from "../domain/invalid-value.ts";
import { isUrl, STANDARD } from "../domain/text.ts";
import { isFolder } from "../files/input.ts";
import { isSnapshot } from "../snapshot/format/layout.ts";
import { readMeta } from "../snapshot/format/meta.ts";
import { openPrivate } from "../snapshot/format/open.ts";
import { listRecords } from "../snapshot/format/records.ts";
import type { Database } from "../sqlite/driver.ts";
import { idFormats } from "../tables/cells.ts";
import { DATABASE_URLS, type Dialect, dialects, findDialect } from "../tables/dialects.ts";
import { openCsv, openQueries, type Queries } from "../tables/table-reader.ts";
import { type LineSource, openLines } from "./line-reader.ts";
import type { ImportOptions } from "./options.ts";

/** How many records of a snapshot are read between two looks at signals. */
const BATCH = 500;

/** Where records come from, and as what they are read. */
export type Source =
  | { kind: "lines"; lines: LineSource }
  | { kind: "csv" | "snapshot"; path: string }
  | ({ kind: "database" } & Queries);

/**
 * Finds out what lines, a path or a URL are. Throws an {@link InvalidValue} if nothing can be at a
 * path or URL. The error does not repeat it, because a URL may have a password.
 */
export function findSource(given: LineSource, queries?: string): Source {
  if (typeof given !== "string") return { kind: "lines", lines: given };
  if (queries !== undefined) {
    return { kind: "database", url: given, dialect: dialectOf(given), folder: queries };
  }
  if (findDialect(given)) {
    throw new InvalidValue("is a database; name the folder of its SELECTs with --queries");
  }
  if (isUrl(given)) throw new InvalidValue(`must be a file, a folder, - or ${DATABASE_URLS}`);

  // A folder or a snapshot of that name can be given as ./-.
  if (given === STANDARD) return { kind: "lines", lines: given };
  if (isFolder(given) || /\.[ct]sv$/i.test(given)) return { kind: "csv", path: given };
  if (isSnapshot(given)) return { kind: "snapshot", path: given };
  return { kind: "lines", lines: given };
}

/** Returns the dialect of the database at a URL. Throws if the URL is not complete. */
function dialectOf(url: string): Dialect {
  const dialect = findDialect(url);
  const isComplete = dialect === dialects.sqlite ? /:./.test(url) : hasHost(url);
  if (!dialect || !isComplete) {
    const advice = "write special characters in a password as %XX, such as %23 for #";
    throw new InvalidValue(`must be ${DATABASE_URLS}; ${advice}`);
  }

  const isNameless = /^\/?$/.test(URL.parse(url)?.pathname ?? "");
  if (!dialect.needsName || !isNameless) return dialect;
  throw new InvalidValue("must name the database, as in mysql://reader@127.0.0.1/platform");
}

/** False for a password with / ? or #, which would end the host. */
function hasHost(url: string): boolean {
  const { host, pathname, search, hash } = URL.parse(url) ?? {};
  return Boolean(host) && !`${pathname}${search}${hash}`.includes("@");
}

/** Opens the reader that fits. Only with an id map, tables may have ids of any kind. */
export async function openReader(source: Source, options: ImportOptions): Promise<RecordReader> {
  const ids = options.idMap === undefined ? idFormats.integers : idFormats.keys;
  switch (source.kind) {
    case "lines":
      return openLines(source.lines, options);
    case "csv":
      return openCsv(source.path, ids, options);
    case "database":
      return openQueries(source, ids, options);
    case "snapshot":
      return openSnapshotReader(source.path);
  }
}

async function openSnapshotReader(path: string): Promise<RecordReader> {
  const { db } = await openPrivate(path);
  return {
    ids: { kind: "snapshot", mark: readMeta(db).id_map },
    unknownColumns: [],
    notes: [],
    read: () => readSnapshot(db),
    // A snapshot has no lines, so only the file is named.
    locate: () => ({ place: path }),
    [Symbol.asyncDispose]: async () => db.$client.close(),
  };
}

async function* readSnapshot(db: Database): AsyncGenerator<Item[]> {
  let batch: Item[] = [];
  let count = 0;
  for (const record of listRecords(db)) {
    count++;
    batch.push({ record, at: count });
    if (batch.length < BATCH) continue;

    yield batch;
    batch = [];
    await setImmediate();
  }
  yield batch;
}
