/**
 * The interface of all readers of a source: they yield the records in order, and know whose ids these
 * are and where each stands, also for errors.
 */
import type { PlacedFinding, RawRecord } from "./raw-records.ts";

export interface RecordReader extends AsyncDisposable {
  readonly ids: SourceIds;
  /** Yields all records and the errors in everything else, in batches. */
  read(): AsyncIterable<Iterable<Item>>;
  /** How files were read, where they could not show it at once. Complete after the last batch. */
  readonly notes: readonly string[];
  /** The columns of tables that are left out. Complete after the last batch. */
  readonly unknownColumns: readonly UnknownColumn[];
  /**
   * Adds to an error that was found in one of the records the place, unless that is a line of NDJSON. May
   * also write its field as it fits the source.
   */
  locate(error: PlacedFinding): PlacedFinding;
}

/** Whose ids the records of a source have. */
export type SourceIds =
  /** The operator's: keys that an id map translates or, if there is none, integers. */
  | { readonly kind: "own" }
  /** A snapshot's numbers, which an id map must not translate again, and the last mark of its map. */
  | { readonly kind: "snapshot"; readonly mark: string | undefined };

export const OWN_IDS: SourceIds = { kind: "own" };

/** A record, or an error in a part of the source that is none, with its place. */
export type Item = RecordItem | PlacedFinding;

export interface RecordItem {
  record: RawRecord;
  /** The line on which it begins; 0 in a source that has no lines. */
  line: number;
}

/** A column that is left out, and the column that was probably meant. */
export interface UnknownColumn {
  file: string;
  column: string;
  meant?: string | undefined;
}
