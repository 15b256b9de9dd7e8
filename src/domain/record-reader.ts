/**
 * The interface of whatever reads the records of a source, which is a text of lines, a folder of CSV
 * files, a database or a snapshot: the records in order, where each stands, and whose ids they have.
 */
import type { RawRecord, RecordKey } from "./dataset.ts";
import type { ValidationError } from "./validation-errors.ts";

export interface RecordReader extends AsyncDisposable {
  readonly ids: SourceIds;
  /** The columns of tables that were left out. */
  readonly unknownColumns: readonly UnknownColumn[];
  /** Yields everything in the source, in batches. */
  read(): AsyncIterable<Iterable<Item>>;
  /** Says where an error is that was found in one of the records. */
  locate(error: FoundError): Location;
}

/** Whose ids the records of a source have. */
export type SourceIds =
  /** The operator's: keys that an id map translates or, if there is none, integers. */
  | { readonly kind: "own" }
  /** A snapshot's numbers, which an id map must not translate again, and the last mark of its map. */
  | { readonly kind: "snapshot"; readonly mark: string | undefined };

export const OWN_IDS: SourceIds = { kind: "own" };

/** A record, or a part of the source that is none. */
export type Item = RecordItem | ProblemItem;

/** Where a record stands. Only the reader knows what it means. */
export type Position = number;

export interface RecordItem {
  record: RawRecord;
  at: Position;
  /** Where another record with the same id stands, if the reader has noticed it. */
  first?: Position | undefined;
}

/** An error in a part of the source that is no record. It is never skipped if it is fatal. */
export interface ProblemItem {
  problem: RecordError;
  isFatal: boolean;
}

/** An error with the type and id of the record, if they can be read, and where it is. */
export interface RecordError extends ValidationError {
  type?: RecordKey["type"] | undefined;
  /** With an id map, the id in the source. */
  id?: number | string | undefined;
  /** Missing if the error is not in a single line of NDJSON. */
  line?: number | undefined;
  /** The row of a table (`users.csv, line 12`, or `users.sql, id 42`) or the path of a snapshot. */
  place?: string;
  /** For a reference to a record that does not exist, the type and id of that record. */
  missing?: Pick<RecordError, "type" | "id">;
}

/** An error of which the reader has said where it is. */
export interface LocatedError extends RecordError {
  /** Whether the place has the id, which a message then does not repeat. */
  placeHasId?: boolean;
}

/** Where an error is. A reader may write the field and the reason as they fit its source. */
export type Location = Partial<
  Pick<LocatedError, "field" | "reason" | "line" | "place" | "placeHasId">
>;

/** An error of which only the reader can say where it is. */
export interface FoundError extends Omit<RecordError, "line" | "place"> {
  /** Missing if the error is not in a single record. */
  at?: Position;
  /** For an id that is taken, where the record stands that has it. */
  first?: Position | undefined;
}

/** Returns the records among items. */
export function recordsOf(items: readonly Item[]): RawRecord[] {
  const records: RawRecord[] = [];
  for (const item of items) {
    if ("record" in item) records.push(item.record);
  }
  return records;
}

/** Adds the line of the record that has an id to the reason why another cannot have it. */
export function namingFirst(reason: string, line: Position | undefined): string {
  return line === undefined ? reason : `${reason} (first on line ${line})`;
}

/** A column that is left out, and the column that was probably meant. */
export interface UnknownColumn {
  file: string;
  column: string;
  meant?: string | undefined;
}
