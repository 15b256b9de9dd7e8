/** Opens the reader that fits a source: lines, a folder of CSV files, a database or a snapshot. */
import { InvalidValue } from "../../domain/invalid-value.ts";
import type { RecordReader } from "../../domain/record-reader.ts";
import type { IdKind } from "../../tables/cell-ids.ts";
import { openFolder, openQueries, type TableOptions } from "../../tables/open-tables.ts";
import { type LineOptions, LineReader, type LineSource } from "./line-reader.ts";
import { SnapshotReader } from "./snapshot-reader.ts";
import { findSourceKind } from "./source-kind.ts";

/** Opens lines, or what is at a path or URL. Tables may have ids of `idKind`. */
export async function openReader(
  source: LineSource,
  idKind: IdKind,
  options: LineOptions & TableOptions,
): Promise<RecordReader> {
  if (typeof source !== "string") return LineReader.open(source, options);

  const kind = await findSourceKind(source, options.queries).catch((error) => {
    throw error instanceof InvalidValue ? new RangeError(`the source ${error.message}`) : error;
  });
  if (kind === "database") return openQueries(source, idKind, options);
  if (kind === "folder") return openFolder(source, idKind, options);
  return kind === "snapshot" ? SnapshotReader.open(source) : LineReader.open(source, options);
}
