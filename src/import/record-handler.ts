/** The interface of whatever writes the records of a dataset or a change file to a database. */
import type { RawRecord, RecordKey } from "../domain/dataset.ts";
import type { FoundError, Position } from "../domain/record-reader.ts";
import type { InvalidRecord } from "../domain/validate-record.ts";

/** The fate of a record of which all, or the invalid part, was skipped. */
export type Skipped = "left out" | "trimmed" | "made private" | "private already";

/** Takes an error, and what has become of the user. */
export type Report = (error: FoundError, skipped?: Skipped) => void;

/** Validates the records of a dataset or a change file and applies them to a database. */
export interface RecordHandler<Parsed> {
  validate(record: RawRecord): Parsed | InvalidRecord;
  /** Applies a record, or returns the errors in it. */
  add(record: Parsed, at: Position): FoundError[];
  /**
   * Leaves out the invalid part of a record that is invalid or was refused by `add`. Without this
   * method, every error is final.
   */
  skip?(record: RecordKey, invalid: Parsed | InvalidRecord, at: Position): Skipped;
  /** Completes the rows, and reports the errors that can be detected only after the last record. */
  finish(report: Report): void;
}
