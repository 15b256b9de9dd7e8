/**
 * What every source of records offers to the import, whether it is a text of lines, a folder of CSV
 * files, a database or a snapshot: its records in order, the place of each, and whose ids they have.
 */
import type { RawRecord, RecordKey } from "./dataset.ts";
import type { ValidationError } from "./validation-errors.ts";

export interface RecordSource extends AsyncDisposable {
  /**
   * Set if the ids are numbers of a snapshot, which an id map must not translate again. `map` is the
   * mark of the id map of that snapshot, if it was made with one.
   */
  readonly numbers?: { map: string | undefined } | undefined;
  /** The columns of tables that were left out. */
  readonly unknownColumns: readonly UnknownColumn[];
  /** Yields everything in the source, in batches. */
  read(): AsyncIterable<Iterable<Item>>;
  /** Adds the place of a record to an error in it. */
  locate(error: LineError, first?: number): LineError;
}

/** A record, or an error in a part of the source that is no record. */
export type Item = PlacedRecord | { problem: LineError; isFatal: boolean };

export interface PlacedRecord {
  record: RawRecord;
  /** The line of the record. Without it, the id identifies the record. */
  line?: number | undefined;
  /** The line of the first row with the same id. */
  first?: number | undefined;
}

/** An error, with the type and id of the record if they can be read. */
export interface LineError extends ValidationError {
  type?: RecordKey["type"] | undefined;
  /** With an id map, the id in the source. */
  id?: number | string | undefined;
  /** Missing if the error is not in a single line of NDJSON. */
  line?: number | undefined;
  /** The row of a table: `users.csv, line 12`, or `users.sql, id 42`. */
  place?: string;
  /** For a reference to a record that does not exist, the type and id of that record. */
  missing?: Pick<LineError, "type" | "id">;
}

/** A column that is left out, and the column that was probably meant. */
export interface UnknownColumn {
  file: string;
  column: string;
  meant?: string | undefined;
}

/** Records that are in memory. Reading changes them. */
export class RecordList implements RecordSource {
  readonly unknownColumns = [];
  readonly #records: RawRecord[];

  constructor(records: RawRecord[]) {
    this.#records = records;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async *read(): AsyncGenerator<Iterable<Item>> {
    yield this.#records.map((record) => ({ record }));
  }

  locate(error: LineError): LineError {
    return { ...error, line: undefined };
  }
}
