/** Opens the reader that fits a source. */
import type { RecordReader } from "../domain/record-reader.ts";
import type { IdKind } from "../tables/cells.ts";
import { openCsv, openQueries, type TableOptions } from "../tables/open-tables.ts";
import { type LineOptions, LineReader } from "./line-reader.ts";
import { SnapshotReader } from "./snapshot-reader.ts";
import type { Source } from "./source.ts";

/** Tables may have ids of `idKind`. */
export async function openReader(
  source: Source,
  idKind: IdKind,
  options: LineOptions & TableOptions,
): Promise<RecordReader> {
  switch (source.kind) {
    case "lines":
      return LineReader.open(source.lines, options);
    case "csv":
      return openCsv(source.path, idKind, options);
    case "snapshot":
      return SnapshotReader.open(source.path);
    case "database":
      return openQueries(source.url, source.queries, idKind, options);
  }
}
