/**
 * Records before they are validated, and what all readers of a source have in common: they yield the
 * records in order, and know whose ids these are and where each stands, also for errors.
 */
export const recordTypes = ["role", "achievement", "company", "user"] as const;
export type RecordType = (typeof recordTypes)[number];

/** Identifies a record: ids repeat across types. */
export interface RecordKey {
  type: RecordType;
  id: number;
}

/** An object that has not been validated yet. */
export type RawRecord = Record<string, unknown>;

/** Whether a record is, or might be meant as, a private user. Only the id of one is written. */
export function mayBePrivate(record: RawRecord): boolean {
  return record.type === "user" && record.public !== true;
}

export interface RecordReader extends AsyncDisposable {
  readonly ids: SourceIds;
  /** Yields everything in the source, in batches. */
  read(): AsyncIterable<Iterable<Item>>;
  /**
   * Adds to an error that was found in one of the records where it is. May also write its field and
   * reason as they fit the source.
   */
  locate(error: FoundError): FoundError;
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

/**
 * Where a record stands: the number of its line, or of a record of a snapshot. 0 for each row of a
 * database, which is found by its id. Only the reader knows what it means.
 */
export type Position = number;

export interface RecordItem {
  record: RawRecord;
  at: Position;
  /**
   * The line of the first record with the same id, for a message about this one. Only rows of CSV files
   * have it, because they are read in the order of their ids, in which those with the same id follow
   * each other.
   */
  first?: number | undefined;
}

/** An error in a part of the source that is no record. */
interface ProblemItem {
  /** Says where it is. */
  problem: FoundError;
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

/** An error as users of the library and of `--json` see it. */
export interface RecordError {
  /** Empty for an error in the whole line. */
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

/**
 * An error on its way to the report. A check says what is wrong, then the record is added, and last the
 * reader says where it is.
 */
export interface FoundError extends RecordError {
  /** Errors of the same kind in the same field are grouped. Defaults to `reason`. */
  kind?: string;
  /** Where the record stands. Undefined if the error is not in a single record. */
  at?: Position | undefined;
  /** Whether the reason or the place has the id of the record, which a message then does not repeat. */
  hasId?: boolean;
  /** Whether nothing can be skipped because of the error. */
  isFinal?: boolean;
  /** For a reference to a record that does not exist, the type and id of that record. */
  missing?: { type: RecordType; id: number | string };
}

/** A column that is left out, and the column that was probably meant. */
export interface UnknownColumn {
  file: string;
  column: string;
  meant?: string | undefined;
}
