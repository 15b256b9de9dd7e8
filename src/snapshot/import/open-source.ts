/** Opens whatever a dataset or a change file comes from as one kind of source. */
import type { RecordSource } from "../../domain/record-source.ts";
import { openFolder, openQueries, type TableOptions } from "../../tables/table-reader.ts";
import { type LineOptions, LineReader, type LineSource } from "./line-reader.ts";
import { LocatedSource } from "./located-source.ts";
import { SnapshotReader } from "./snapshot-reader.ts";

export interface SourceOptions extends LineOptions, TableOptions {}

/** Opens lines, or what is at a path or URL. */
export async function openSource(
  source: LineSource | LocatedSource,
  options: SourceOptions,
): Promise<RecordSource> {
  if (source instanceof LocatedSource) return openLocated(source, options);
  if (typeof source !== "string") return LineReader.open(source, options);
  return openLocated(await LocatedSource.find(source, options.queries, "the source"), options);
}

function openLocated({ location, kind }: LocatedSource, options: SourceOptions) {
  if (kind === "database") return openQueries(location, options);
  if (kind === "folder") return openFolder(location, options);
  return kind === "snapshot" ? SnapshotReader.open(location) : LineReader.open(location, options);
}
