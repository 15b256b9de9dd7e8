/** Opens whatever a dataset or a change file comes from as one kind of source. */
import type { RecordSource } from "../../domain/record-source.ts";
import { findLocationProblem } from "../../tables/database-source.ts";
import { isFolder, openFolder, openQueries, type TableOptions } from "../../tables/table-reader.ts";
import { isSnapshot } from "../format/header-trailer.ts";
import { type LineOptions, LineReader, type LineSource } from "./line-reader.ts";
import { SnapshotReader } from "./snapshot-reader.ts";

export interface SourceOptions extends LineOptions, TableOptions {}

type SourceKind = "database" | "folder" | "snapshot" | "lines";

/** A path or URL, and what is there. */
export class LocatedSource {
  readonly location: string;
  readonly kind: SourceKind;

  private constructor(location: string, kind: SourceKind) {
    this.location = location;
    this.kind = kind;
  }

  /** Rejects with a `RangeError` whose message continues a sentence that begins with the source. */
  static async find(location: string, queries: string | undefined): Promise<LocatedSource> {
    const problem = findLocationProblem(location, queries);
    if (problem !== undefined) throw new RangeError(problem);
    if (queries !== undefined) return new LocatedSource(location, "database");
    if (isFolder(location)) return new LocatedSource(location, "folder");
    return new LocatedSource(location, (await isSnapshot(location)) ? "snapshot" : "lines");
  }
}

/** Opens lines, or what is at a path or URL. */
export async function openSource(
  source: LineSource | LocatedSource,
  options: SourceOptions,
): Promise<RecordSource> {
  if (source instanceof LocatedSource) return openLocated(source, options);
  if (typeof source !== "string") return LineReader.open(source, options);
  const located = await LocatedSource.find(source, options.queries).catch((error) => {
    throw error instanceof RangeError ? new Error(`the source ${error.message}`) : error;
  });
  return openLocated(located, options);
}

function openLocated({ location, kind }: LocatedSource, options: SourceOptions) {
  if (kind === "database") return openQueries(location, options);
  if (kind === "folder") return openFolder(location, options);
  return kind === "snapshot" ? SnapshotReader.open(location) : LineReader.open(location, options);
}
