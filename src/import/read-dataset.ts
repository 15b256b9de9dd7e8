/**
 * Reads a whole dataset or change file, whatever its source is. Gives each record its numbers, cleans
 * and validates it, and passes it to a handler. An error is final unless the handler skips what is
 * invalid.
 */
import type { RecordItem, RecordReader, UnknownColumn } from "../domain/records.ts";
import { createRoundedIds } from "../domain/source-ids.ts";
import { identify } from "../domain/validate-record.ts";
import { type CleaningOptions, createCleaner, type OddCount } from "./clean-record.ts";
import type { Ids } from "./ids.ts";
import {
  collectErrors,
  DatasetError,
  type ErrorOptions,
  type RecordErrors,
} from "./record-errors.ts";
import type { RecordHandler } from "./write-rows.ts";

const ROUNDED =
  "looks like a number that a program has rounded, and so do all other long ids of this type; have that program read ids as text, or import them as they are with --force";

export interface ReadOptions extends CleaningOptions, ErrorOptions {
  /** Whether to take ids that look rounded. */
  takesRounded?: boolean | undefined;
}

/** The report on a dataset that has been read. */
export interface ReadReport {
  /** How many names that are written had invisible characters or extra white space. */
  cleaned: number;
  /** How many names that are written look wrong; see clean-record.ts. */
  names: Record<"entities" | "misread" | "placeholders" | "contacts", OddCount>;
  /** Times before 1990 or in the future. */
  times: OddCount;
  unknownColumns: readonly UnknownColumn[];
  /** How files were read, where they could not show it at once. */
  notes: readonly string[];
  /** The errors of which the records, or the invalid parts of them, were skipped. */
  skipped: RecordErrors;
  /** How many users became private because a record about them is invalid. */
  madePrivate: number;
  /** How many users were left out because their ids cannot be read. */
  leftOut: number;
}

/** Rejects with a {@link DatasetError} if any error was not skipped. Times after `nowMs` are odd. */
export async function readDataset(
  reader: RecordReader,
  handler: RecordHandler,
  ids: Ids,
  nowMs: number,
  options: ReadOptions = {},
): Promise<ReadReport> {
  const errors = collectErrors(reader, ids, options);
  const cleaner = await createCleaner(nowMs, options);
  const rounded = createRoundedIds();
  let madePrivate = 0;
  let leftOut = 0;

  /** Gives a record its numbers, cleans it, and has it validated and written. */
  function take({ record, line }: RecordItem): void {
    rounded.add(record, line);
    const numbered = ids.translate(record);
    const { cleaned, oddTexts } = cleaner.clean(numbered);
    const { problems, isWritten, consequence, ...outcome } = handler.take(cleaned, line);
    if (isWritten) cleaner.count(oddTexts);
    if (outcome.madePrivate) madePrivate++;
    for (const problem of problems) {
      errors.report(problem, { ...identify(cleaned), line }, consequence);
    }
  }

  for await (const items of reader.read()) {
    for (const item of items) {
      if ("record" in item) take(item);
      else {
        errors.addProblem(item);
        if (item.leavesOut === "user") leftOut++;
      }
    }
  }

  for (const first of options.takesRounded ? [] : rounded.list()) {
    errors.report({ field: "id", reason: ROUNDED }, first);
  }
  handler.complete((problem, faulty) => errors.report(problem, faulty, ""));
  const { final, skipped } = errors;
  if (final.count > 0) throw new DatasetError(final);

  const { cleaned, times, ...names } = cleaner.odd;
  const { unknownColumns, notes } = reader;
  const odd = { cleaned: cleaned.count, names, times };
  return { ...odd, unknownColumns, notes, skipped, madePrivate, leftOut };
}
