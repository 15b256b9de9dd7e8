/** Opens the reader that fits a source: lines, a folder of CSV files, a database or a snapshot. */
import { InvalidValue } from "../../domain/invalid-value.ts";
import type { RecordReader } from "../../domain/record-reader.ts";
import { openFolder, openQueries, type TableOptions } from "../../tables/open-tables.ts";
import { type LineOptions, LineReader, type LineSource } from "./line-reader.ts";
import { LocatedSource } from "./located-source.ts";
import { SnapshotReader } from "./snapshot-reader.ts";

export interface ReaderOptions extends LineOptions, TableOptions {}

/** Opens lines, or what is at a path or URL. */
export async function openReader(
  source: LineSource | LocatedSource,
  options: ReaderOptions,
): Promise<RecordReader> {
  if (source instanceof LocatedSource) return openLocated(source, options);
  if (typeof source !== "string") return LineReader.open(source, options);
  return openLocated(await locate(source, options.queries), options);
}

async function locate(source: string, queries: string | undefined): Promise<LocatedSource> {
  try {
    return await LocatedSource.find(source, queries);
  } catch (error) {
    throw error instanceof InvalidValue ? new RangeError(`the source ${error.message}`) : error;
  }
}

function openLocated({ location, kind }: LocatedSource, options: ReaderOptions) {
  if (kind === "database") return openQueries(location, options);
  if (kind === "folder") return openFolder(location, options);
  return kind === "snapshot" ? SnapshotReader.open(location) : LineReader.open(location, options);
}
