/**
 * The interface of all readers of a source: they yield the records in order, and know whose ids these
 * are and where each stands, also for errors.
 */
import type { Finding, RawRecord, RecordError } from "./raw-records.ts";

export interface RecordReader extends AsyncDisposable {
  readonly ids: SourceIds;
  /** Yields all records and the errors in everything else, in batches. */
  read(): AsyncIterable<Iterable<Item>>;
  /** How files were read, where they could not show it at once. Complete after the last batch. */
  readonly notes: readonly string[];
  /** The columns of tables that are left out. Complete after the last batch. */
  readonly unknownColumns: readonly UnknownColumn[];
  /**
   * Completes an error in one of the records, which has the line of it: names the place, unless that is
   * a line of NDJSON, and the field as the source does.
   */
  locate(error: RecordError): RecordError;
}

/** Whose ids the records of a source have. */
export type SourceIds =
  /** The operator's: keys that an id map translates or, if there is none, integers. */
  | { readonly kind: "own" }
  /** A snapshot's numbers, which an id map must not translate again, and the last mark of its map. */
  | { readonly kind: "snapshot"; readonly mark: string | undefined };

export const OWN_IDS: SourceIds = { kind: "own" };

export type Item = RecordItem | ProblemItem;

export interface RecordItem {
  record: RawRecord;
  /** The line on which it begins, if the source has lines. */
  line?: number | undefined;
}

/** A line or a row that is no record, or that completes none. */
export interface ProblemItem extends Pick<RecordError, "line" | "place"> {
  problem: Finding;
  /** Whether a row or a whole user is left out if the problem is skipped. It never is if this is undefined. */
  leavesOut?: "row" | "user";
}

/** A column that is left out, and the column that was probably meant. */
export interface UnknownColumn {
  file: string;
  column: string;
  meant?: string | undefined;
}
