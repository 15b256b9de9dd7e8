/** Opens whatever a dataset or a change file comes from as one kind of source. */
import type { RecordSource } from "../../domain/record-source.ts";
import { openTables, type TableOptions } from "../../tables/read-tables.ts";
import { isSnapshot } from "../format/header-trailer.ts";
import { type LineOptions, LineReader, type LineSource } from "./line-source.ts";
import { SnapshotReader } from "./snapshot-source.ts";

export interface SourceOptions extends LineOptions, TableOptions {}

/** Opens lines, or what is at a path: lines, a snapshot, a folder of CSV files or a database. */
export async function openSource(
  source: LineSource,
  options: SourceOptions,
): Promise<RecordSource> {
  if (typeof source === "string") {
    const tables = await openTables(source, options);
    if (tables) return tables;
    if (await isSnapshot(source)) return SnapshotReader.open(source);
  }
  return LineReader.open(source, options);
}
