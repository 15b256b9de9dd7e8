/**
 * The interface of all readers of a source: they yield the records in order, and know whose ids these
 * are and where each stands, also for errors.
 */
import type { PlacedFinding, RawRecord } from "./raw-records.ts";

export interface RecordReader extends AsyncDisposable {
  readonly ids: SourceIds;
  /** Yields everything in the source, in batches. */
  read(): AsyncIterable<Iterable<Item>>;
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

/** A record, a part of the source that is none, or what the report says about the source. */
export type Item = RecordItem | ProblemItem | NoteItem | ColumnItem;

export interface RecordItem {
  record: RawRecord;
  /** The line on which it begins; 0 in a source that has no lines. */
  line: number;
}

/** An error in a part of the source that is no record. */
interface ProblemItem {
  /** Says where it is. */
  problem: PlacedFinding;
  /** Whether a user is left out because the id cannot be read, so the user cannot be made private. */
  losesUser: boolean;
}

/** How a file was read, where it could not show it at once. */
interface NoteItem {
  note: string;
}

/** A column of a table that is left out. */
interface ColumnItem {
  unknownColumn: UnknownColumn;
}

/** A column that is left out, and the column that was probably meant. */
export interface UnknownColumn {
  file: string;
  column: string;
  meant?: string | undefined;
}
