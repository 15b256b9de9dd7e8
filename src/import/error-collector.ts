/**
 * Collects the errors in records and has the reader say where they are. An error is final unless the
 * handler skips what is invalid.
 */
import type { RecordKey } from "../domain/dataset.ts";
import type { RoundedIds } from "../domain/keys.ts";
import type { FoundError, ProblemItem, RecordItem, RecordReader } from "../domain/record-reader.ts";
import { InvalidRecord } from "../domain/validate-record.ts";
import type { Ids } from "./ids.ts";
import { RecordErrors, SkippedErrors } from "./record-errors.ts";
import type { RecordHandler, Skipped } from "./record-handler.ts";

/** The ends of messages about a skipped record. */
const CONSEQUENCES: Record<Skipped, string> = {
  "left out": "",
  trimmed: "; the rest of the user is kept",
  "made private": "; the user becomes private",
  "private already": "; the user becomes private",
};

const ROUNDED =
  "looks like a number that a program has rounded, and so do all other long ids of this type; have that program read ids as text, or import them as they are with --force";

export class ErrorCollector<Parsed extends RecordKey> {
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

  /** Adds an error for each type of which all long ids look rounded. */
  addRounded(rounded: RoundedIds): void {
    for (const first of rounded.list())
      this.#add(this.errors, { field: "id", reason: ROUNDED, ...first });
  }

  /** Adds an error that was detected after the last record. */
  addLate(error: FoundError, skipped?: Skipped): void {
    if (skipped === "made private") this.skipped.hidden++;
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
      const { field, reason, kind = reason, isDuplicate = false } = error;
      const found: FoundError = { field, reason: reason + consequence, kind, type, id, at };
      if (isDuplicate) {
        found.isDuplicate = true;
        found.first = error.first ?? first;
      }
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
