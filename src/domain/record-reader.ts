/**
 * The interface of whatever reads the records of a source, which is a text of lines, a folder of CSV
 * files, a database or a snapshot: the records in order, where each stands, and whose ids they have.
 */
import type { RawRecord, RecordType } from "./dataset.ts";
import type { ValidationError } from "./validation-errors.ts";

export interface RecordReader extends AsyncDisposable {
  readonly ids: SourceIds;
  /** The columns of tables that were left out. */
  readonly unknownColumns: readonly UnknownColumn[];
  /** How files were read, where they could not show it at once. */
  readonly notes: readonly string[];
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

/** An error in a part of the source that is no record. */
interface ProblemItem {
  problem: FoundError;
  location: Location;
  /** Whether the error is final, even if others are skipped. */
  isFatal: boolean;
  /** Whether a user is left out who cannot be made private, because nobody can read the id. */
  losesUser: boolean;
}

/** An error as users of the library and of `--json` see it. */
export interface RecordError {
  field: string;
  reason: string;
  /** The type and id of the record, if they can be read. With an id map, the id in the source. */
  type?: RecordType | undefined;
  id?: number | string | undefined;
  /** Undefined if the error is not in a single line of NDJSON. */
  line?: number | undefined;
  /** The row of a table (`users.csv, line 12`, or `users.sql, id 42`) or the path of a snapshot. */
  place?: string | undefined;
}

/** An error of which the reader has not yet said where it is. */
export interface FoundError extends ValidationError {
  type?: RecordType | undefined;
  id?: number | string | undefined;
  /** Undefined if the error is not in a single record. */
  at?: Position | undefined;
  /** Whether the id of the record, which the reason then has, is taken. */
  isDuplicate?: boolean;
  /** For an id that is taken, where the record stands that has it. */
  first?: Position | undefined;
  /** For a reference to a record that does not exist, the type and id of that record. */
  missing?: { type: RecordType; id: number | string };
}

/** Where an error is. A reader may write the field and the reason as they fit its source. */
export interface Location extends Partial<Omit<RecordError, "type" | "id">> {
  /** Whether the place has the id, which a message then does not repeat. */
  placeHasId?: boolean;
}

/** Adds the line of the record that has an id to the reason why another cannot have it. */
export function namingFirst(reason: string, line: number | undefined): string {
  return line === undefined ? reason : `${reason} (first on line ${line})`;
}

/** A column that is left out, and the column that was probably meant. */
export interface UnknownColumn {
  file: string;
  column: string;
  meant?: string | undefined;
}
