/**
 * Reads a whole dataset or change file, whatever its source is. Each record gets its numbers, is
 * cleaned, validated and given to a handler. Collects the errors in them.
 */
import type { RawRecord, RecordKey } from "../../domain/dataset.ts";
import type {
  FoundError,
  Position,
  ProblemItem,
  RecordItem,
  RecordReader,
  UnknownColumn,
} from "../../domain/record-reader.ts";
import { InvalidRecord } from "../../domain/validate-record.ts";
import { DUPLICATE_ID } from "../../domain/validation-errors.ts";
import type { Dated } from "./build-time.ts";
import { type CleaningOptions, RecordCleaner } from "./clean-record.ts";
import type { Ids } from "./ids.ts";
import type { OddTexts } from "./odd-texts.ts";
import { DatasetError, RecordErrors, SkippedErrors } from "./record-errors.ts";

/** The fate of a record of which all, or the invalid part, was skipped. */
export type Skipped = "left out" | "trimmed" | "made private" | "private already";

/** The ends of messages about a skipped record. */
const CONSEQUENCES: Record<Skipped, string> = {
  "left out": "",
  trimmed: "; the rest of the user is kept",
  "made private": "; the user becomes private",
  "private already": "; the user becomes private",
};

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
  /** Returns the errors that can be detected only after the last record. */
  finish(): Iterable<FoundError>;
}

export interface ReadOptions extends CleaningOptions {
  /** How many errors of each kind to report. Defaults to 5. */
  maxErrors?: number | undefined;
}

/** The report on a dataset that has been read. */
export interface ReadReport
  extends Pick<RecordCleaner, "cleaned">,
    Pick<OddTexts, "names" | "times"> {
  unknownColumns: readonly UnknownColumn[];
  /** Whether all ids of users are integers, although they were translated by an id map. */
  hasNeedlessMap: boolean;
  skipped: SkippedErrors;
}

/** Rejects with a {@link DatasetError} if any error was not skipped. */
export async function readDataset<Parsed extends RecordKey>(
  reader: RecordReader,
  handler: RecordHandler<Parsed>,
  ids: Ids,
  options: Dated<ReadOptions>,
): Promise<ReadReport> {
  const cleaner = new RecordCleaner(options);
  const collector = new ErrorCollector(handler, reader, ids, options.maxErrors);

  for await (const items of reader.read()) {
    for (const item of items) {
      if ("problem" in item) {
        collector.addProblem(item);
        continue;
      }

      ids.translate(item.record);
      const findings = cleaner.clean(item.record);
      const parsed = handler.validate(item.record);
      const errors = parsed instanceof InvalidRecord ? parsed.errors : handler.add(parsed, item.at);
      if (errors.length === 0) cleaner.count(findings);
      else collector.reject(parsed, errors, item);
    }
  }

  for (const error of handler.finish()) collector.addLate(error);
  if (collector.errors.count > 0) throw new DatasetError(collector.errors);

  const { cleaned, odd } = cleaner;
  const { names, times } = odd;
  const { unknownColumns } = reader;
  const hasNeedlessMap = ids.hasNeedlessMap();
  return { cleaned, names, times, unknownColumns, hasNeedlessMap, skipped: collector.skipped };
}

/** Collects errors and has the reader say where they are. Skips them if the handler can. */
class ErrorCollector<Parsed extends RecordKey> {
  readonly errors: RecordErrors;
  readonly skipped: SkippedErrors;
  readonly #handler: RecordHandler<Parsed>;
  readonly #reader: RecordReader;
  readonly #ids: Ids;
  /** Records that are invalid themselves. References to them are not reported as errors. */
  readonly #invalid = new Set<string>();

  constructor(
    handler: RecordHandler<Parsed>,
    reader: RecordReader,
    ids: Ids,
    maxErrors: number | undefined,
  ) {
    this.errors = new RecordErrors(maxErrors);
    this.skipped = new SkippedErrors(maxErrors);
    this.#handler = handler;
    this.#reader = reader;
    this.#ids = ids;
  }

  /** Adds an error in a part of the source that is no record. */
  addProblem({ problem, location, isFatal, losesUser }: ProblemItem): void {
    if (this.#isFollowUp(problem)) return;
    if (losesUser) this.skipped.leftOut++;
    this.#errorsFor(isFatal).add(problem, location);
  }

  /** Adds an error that was detected after the last record. */
  addLate(error: FoundError): void {
    if (!this.#isFollowUp(error)) this.#add(this.#errorsFor(false), error);
  }

  /** Adds the errors in a record, and skips the record if possible. */
  reject(
    invalid: Parsed | InvalidRecord,
    errors: readonly FoundError[],
    { at, first }: RecordItem,
  ): void {
    const record = invalid instanceof InvalidRecord ? invalid.record : invalid;
    const { type, id } = record ?? {};
    const skipped = record && this.#handler.skip?.(record, invalid, at);
    if (skipped === "made private") this.skipped.hidden++;

    const isFinal = skipped === undefined;
    if (isFinal && record && type !== "user") this.#invalid.add(this.#nameOf(record));

    const consequence = isFinal ? "" : CONSEQUENCES[skipped];
    for (const error of errors) {
      const { field, reason, kind = reason } = error;
      const found: FoundError = { field, reason: reason + consequence, kind, type, id, at };
      if (kind === DUPLICATE_ID) found.first = error.first ?? first;
      this.#add(this.#errorsFor(isFinal), found);
    }
  }

  #errorsFor(isFinal: boolean): RecordErrors {
    return isFinal || !this.#handler.skip ? this.errors : this.skipped;
  }

  #add(to: RecordErrors, found: FoundError): void {
    const named = { ...found, id: this.#idOf(found) };
    to.add(named, this.#reader.locate(named));
  }

  /** Whether an error is about a reference to a record that has been reported as invalid. */
  #isFollowUp({ missing }: Pick<FoundError, "missing">): boolean {
    return missing !== undefined && this.#invalid.has(this.#nameOf(missing));
  }

  #idOf({ type, id }: Pick<FoundError, "type" | "id">): number | string | undefined {
    return type && typeof id === "number" ? this.#ids.inSource({ type, id }) : id;
  }

  /** References in tables are found before ids are replaced, so records go by the source's ids. */
  #nameOf(record: Pick<FoundError, "type" | "id">): string {
    return `${record.type} ${this.#idOf(record)}`;
  }
}
