/**
 * Reads a whole dataset or change file, whatever its source is. Gives each record its numbers, cleans
 * and validates it, and passes it to a handler. An error is final unless the handler skips what is
 * invalid.
 */
import type { RecordId, RecordItem, RecordReader } from "../domain/records.ts";
import { createRoundedIds } from "../domain/source-ids.ts";
import { InvalidRecord } from "../domain/validate-record.ts";
import { type CleaningOptions, createCleaner } from "./clean-record.ts";
import type { Ids } from "./ids.ts";
import type { ImportOptions } from "./options.ts";
import { collectErrors, DatasetError } from "./record-errors.ts";
import type { ReadReport } from "./reports.ts";
import type { RecordHandler } from "./write-rows.ts";

const ROUNDED =
  "looks like a number that a program has rounded, and so do all other long ids of this type; have that program read ids as text, or import them as they are with --force";

export interface ReadOptions extends CleaningOptions, Pick<ImportOptions, "maxErrors"> {
  /** Whether to take ids that look rounded. */
  takesRounded?: boolean | undefined;
}

/** Rejects with a {@link DatasetError} if any error was not skipped. Times after `nowMs` are odd. */
export async function readDataset<Parsed extends RecordId>(
  reader: RecordReader,
  handler: RecordHandler<Parsed>,
  ids: Ids,
  nowMs: number,
  options: ReadOptions = {},
): Promise<ReadReport> {
  const errors = collectErrors(reader, ids, handler.skip !== undefined, options.maxErrors);
  const cleaner = await createCleaner(nowMs, options);
  const rounded = createRoundedIds();
  let madePrivate = 0;
  let leftOut = 0;

  /** Gives a record to the handler. Skips it if it is invalid and the handler can. */
  function take({ record, line }: RecordItem): void {
    rounded.add(record, line);
    const numbered = ids.translate(record);
    const { cleaned, oddTexts } = cleaner.clean(numbered);
    const parsed = handler.validate(cleaned);
    const isInvalid = parsed instanceof InvalidRecord;
    const findings = isInvalid ? parsed.errors : handler.add(parsed, line);
    if (findings.length === 0) {
      cleaner.count(oddTexts);
      return;
    }

    const known = isInvalid ? parsed.recordId : parsed;
    const outcome = known && handler.skip?.(known, parsed, line);
    if (outcome?.isKept) cleaner.count(oddTexts);
    if (outcome?.madePrivate) madePrivate++;
    const faulty = { type: known?.type, id: known?.id, line };
    for (const finding of findings) errors.report(finding, faulty, outcome);
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
  handler.complete((finding, faulty) => errors.report(finding, faulty, { consequence: "" }));
  const { final, skipped } = errors;
  if (final.count > 0) throw new DatasetError(final);

  const { cleaned, times, ...names } = cleaner.odd;
  const { unknownColumns, notes } = reader;
  const odd = { cleaned: cleaned.count, names, times };
  return { ...odd, unknownColumns, notes, skipped, madePrivate, leftOut };
}
