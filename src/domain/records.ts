/**
 * The records of a source before they are validated, the interface of all readers that yield them, and
 * what can be wrong:
 *
 * | what | is |
 * |---|---|
 * | an error in a field, as a check finds it | a `Problem` |
 * | a line or a row that is no record | a `ProblemItem`, which has a `Problem` |
 * | an error with its place in the source | a `RecordError` |
 * | all errors in a dataset, in groups | `RecordErrors` (import/record-errors.ts), thrown as a `DatasetError` |
 */

export const recordTypes = ["role", "achievement", "company", "user"] as const;
export type RecordType = (typeof recordTypes)[number];

/** Identifies a record: ids repeat across types. */
export interface RecordId {
  type: RecordType;
  id: number;
}

/** A record that has not been validated yet. Nothing changes it: import/read-dataset.ts has the steps. */
export type RawRecord = Readonly<Record<string, unknown>>;

/** Whether a record is, or might be meant as, a private user. Only the id of one is written. */
export function mayBePrivate(record: RawRecord): boolean {
  return record.type === "user" && record.public !== true;
}

/** Yields the records of a source in order, and knows whose ids these are and where each stands. */
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
  locate(error: RecordError): LocatedError;
}

export interface LocatedError {
  error: RecordError;
  /** Whether the place has the id of the record, so that a message need not repeat it. */
  isNamed: boolean;
}

/** Whose ids the records of a source have. */
export type SourceIds =
  /** The operator's: keys that an id map translates or, if there is none, integers. */
  | { readonly kind: "own" }
  /** A snapshot's numbers, which an id map must not translate again, and the last mark of its map. */
  | { readonly kind: "snapshot"; readonly mark: string | undefined };

export const OWN_IDS: SourceIds = { kind: "own" };

/** A column that is left out, and the column that was probably meant. */
export interface UnknownColumn {
  file: string;
  column: string;
  meant?: string | undefined;
}

export type Item = RecordItem | ProblemItem;

export interface RecordItem {
  record: RawRecord;
  /** The line on which it begins, if the source has lines. */
  line?: number | undefined;
}

/** A line or a row that is no record, or that completes none. */
export interface ProblemItem extends Pick<RecordError, "line" | "place"> {
  problem: Problem;
  /** Whether a row or a whole user is left out if the problem is skipped. It never is if this is undefined. */
  leavesOut?: "row" | "user";
}

/** An error that a check finds in a record, before anybody has said where that is. */
export interface Problem extends Pick<RecordError, "field" | "reason"> {
  /** Problems of the same group in the same field are counted together. Defaults to `reason`. */
  group?: string;
  /** The record that does not exist, if this is a reference to one. */
  missing?: MissingRecord;
  /** Whether `reason` has the id of the record, so that a message need not repeat it. */
  isNamed?: boolean;
}

/** A record that does not exist. The id is the one in the source. */
export interface MissingRecord {
  type: RecordType;
  id: number | string;
}

/** Reports what is wrong with a record, or otherwise with the whole dataset. */
export type ReportProblem = (problem: Problem, record?: FaultyRecord) => void;

/** A record in which an error is, as far as it is known. If the id is a number, it is that in the snapshot. */
export type FaultyRecord = Pick<RecordError, "type" | "id" | "line">;

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
