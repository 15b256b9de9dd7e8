/** Records before they are validated, and the errors in them. */

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

/** An error that a check finds in a record, before anybody has said where that is. */
export interface Finding extends Pick<RecordError, "field" | "reason"> {
  /** Findings of the same group in the same field are counted together. Defaults to `reason`. */
  group?: string;
  /** The record that does not exist, if this is a reference to one. */
  missing?: MissingRecord;
}

/** A record that does not exist. The id is the one in the source. */
export interface MissingRecord {
  type: RecordType;
  id: number | string;
}

/** Reports what is wrong with a record, or otherwise with the whole dataset. */
export type ReportFinding = (finding: Finding, record?: FaultyRecord) => void;

/** A record in which an error is, and its line, as far as they are known. */
export interface FaultyRecord {
  type?: RecordType | undefined;
  /** The id in the snapshot, or in the source if it is text. */
  id?: number | string | undefined;
  line?: number | undefined;
}
