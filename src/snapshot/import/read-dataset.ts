/**
 * Reads a whole dataset or change file, whatever its source is. Each record gets its numbers, is
 * cleaned, validated and given to a handler. Collects the errors in them.
 */
import { InvalidLine, type RawRecord, type RecordKey } from "../../domain/dataset.ts";
import type {
  LineError,
  PlacedRecord,
  RecordSource,
  UnknownColumn,
} from "../../domain/record-source.ts";
import type { ValidationError } from "../../domain/validation-errors.ts";
import { type CleaningOptions, RecordCleaner } from "./clean-record.ts";
import type { Ids } from "./ids.ts";
import { DatasetError, LineErrors } from "./line-errors.ts";

/** Validates the records of a dataset or a change file and applies them to a database. */
export interface RecordHandler<Parsed> {
  validate(record: RawRecord): Parsed | InvalidLine;
  /** Applies a record from the line or row with this number, or returns the errors in it. */
  add(record: Parsed, number: number): ValidationError[];
  /**
   * Leaves out the invalid part of a record that is invalid or was refused by `add`, and returns
   * what to add to the messages. Counts users hidden in `to`. Without this method, every error is
   * final.
   */
  skip?(record: RecordKey, invalid: Parsed | InvalidLine, number: number, to: LineErrors): string;
  /** Returns the errors that can be detected only after the last record. */
  finish(): Iterable<LineError>;
}

export interface ReadOptions extends CleaningOptions {
  /** How many errors of each kind to report. Defaults to 5. */
  maxErrors?: number | undefined;
}

/** The report on a dataset that has been read. */
export interface Read extends Pick<RecordCleaner, "cleaned" | "names" | "times"> {
  unknownColumns: readonly UnknownColumn[];
  /** Whether all ids of users are integers, although they were translated by an id map. */
  hasNeedlessMap: boolean;
  skipped: LineErrors;
}

/** Rejects with a {@link DatasetError} if any error was not skipped. */
export async function readDataset<Parsed extends RecordKey>(
  source: RecordSource,
  handler: RecordHandler<Parsed>,
  ids: Ids,
  options: ReadOptions,
): Promise<Read> {
  const cleaner = new RecordCleaner(options);
  const report = new Report(handler, source, ids, options.maxErrors);

  function addRecord({ record, line, first }: PlacedRecord): void {
    ids.translate(record);
    const oddNames = cleaner.clean(record);
    const parsed = handler.validate(record);
    // A row of a database has no line, so its id takes the place of the number.
    const number = line ?? Number(record.id);
    const errors = parsed instanceof InvalidLine ? parsed.errors : handler.add(parsed, number);
    if (errors.length === 0) cleaner.count(oddNames);
    else report.reject(parsed, errors, number, first);
  }

  for await (const items of source.read()) {
    for (const item of items) {
      if ("record" in item) addRecord(item);
      else report.addProblem(item.problem, item.isFatal);
    }
  }
  for (const error of handler.finish()) report.addProblem(error, false);
  if (report.errors.count > 0) throw new DatasetError(report.errors);
  const { cleaned, names, times } = cleaner;
  const { unknownColumns } = source;
  const hasNeedlessMap = ids.hasNeedlessMap();
  return { cleaned, names, times, unknownColumns, hasNeedlessMap, skipped: report.skipped };
}

/** Collects errors and adds where they are. Skips them if the handler can. */
class Report<Parsed extends RecordKey> {
  readonly errors: LineErrors;
  readonly skipped: LineErrors;
  readonly #handler: RecordHandler<Parsed>;
  readonly #source: RecordSource;
  readonly #ids: Ids;
  /** Records that are invalid themselves. References to them are not reported as errors. */
  readonly #invalid = new Set<string>();

  constructor(
    handler: RecordHandler<Parsed>,
    source: RecordSource,
    ids: Ids,
    maxErrors: number | undefined,
  ) {
    this.errors = new LineErrors(maxErrors);
    this.skipped = new LineErrors(maxErrors);
    this.#handler = handler;
    this.#source = source;
    this.#ids = ids;
  }

  /** Adds an error in part of a record or outside records. */
  addProblem(error: LineError, isFatal: boolean): void {
    if (error.missing && this.#invalid.has(this.#nameOf(error.missing))) return;
    if (error.type === "user" && error.id === undefined) this.skipped.leftOut++;
    this.#add(isFatal || !this.#handler.skip ? this.errors : this.skipped, error);
  }

  /** Adds the errors in a record, and skips the record if possible. */
  reject(
    invalid: Parsed | InvalidLine,
    errors: readonly ValidationError[],
    line: number,
    first: number | undefined,
  ): void {
    const record = invalid instanceof InvalidLine ? invalid.record : invalid;
    const { type, id } = record ?? {};
    const skipped = record && this.#handler.skip?.(record, invalid, line, this.skipped);
    const isFinal = skipped === undefined;
    if (isFinal && record && type !== "user") this.#invalid.add(this.#nameOf(record));
    for (const { field, reason, kind = reason } of errors) {
      const error = { field, reason: reason + (skipped ?? ""), kind, type, id, line };
      this.#add(isFinal ? this.errors : this.skipped, error, first);
    }
  }

  #add(list: LineErrors, error: LineError, first?: number): void {
    list.add(this.#source.locate({ ...error, id: this.#idOf(error) }, first));
  }

  #idOf({ type, id }: Pick<LineError, "type" | "id">): number | string | undefined {
    return type && typeof id === "number" ? this.#ids.inSource({ type, id }) : id;
  }

  /** References in tables are found before ids are replaced, so records go by the source's ids. */
  #nameOf(record: Pick<LineError, "type" | "id">): string {
    return `${record.type} ${this.#idOf(record)}`;
  }
}
