/**
 * Reads a whole dataset or change file, whatever its source is. Each record gets its numbers, is
 * cleaned, validated and given to a handler.
 */
import type { RecordKey } from "../domain/dataset.ts";
import { RoundedIds } from "../domain/keys.ts";
import type { RecordReader, UnknownColumn } from "../domain/record-reader.ts";
import { InvalidRecord } from "../domain/validate-record.ts";
import { type CleaningOptions, cleanRecord } from "./clean-record.ts";
import { ErrorCollector } from "./error-collector.ts";
import type { Ids } from "./ids.ts";
import { OddTexts } from "./odd-texts.ts";
import { DatasetError, type SkippedErrors } from "./record-errors.ts";
import type { RecordHandler } from "./record-handler.ts";

export interface ReadOptions extends CleaningOptions {
  /** How many errors of each kind to report. Defaults to 5. */
  maxErrors?: number | undefined;
}

interface AllOptions extends ReadOptions {
  /** Whether it is an error if all long ids of a type look rounded. */
  refusesRounded?: boolean;
}

/** The report on a dataset that has been read. */
export interface ReadReport extends Pick<OddTexts, "names" | "times"> {
  /** How many names that are written had invisible characters or extra white space. */
  cleaned: number;
  unknownColumns: readonly UnknownColumn[];
  /** How files were read, where they could not show it at once. */
  notes: readonly string[];
  /** Whether all ids of users are integers, although they were translated by an id map. */
  hasNeedlessMap: boolean;
  skipped: SkippedErrors;
}

/** Rejects with a {@link DatasetError} if any error was not skipped. Times after `nowMs` are odd. */
export async function readDataset<Parsed extends RecordKey>(
  reader: RecordReader,
  handler: RecordHandler<Parsed>,
  ids: Ids,
  nowMs: number,
  options: AllOptions,
): Promise<ReadReport> {
  let cleaned = 0;
  const odd = new OddTexts(nowMs, options);
  const collector = new ErrorCollector(handler, reader, ids, options.maxErrors);
  const rounded = new RoundedIds();

  for await (const items of reader.read()) {
    for (const item of items) {
      if ("problem" in item) {
        collector.addProblem(item);
        continue;
      }

      const { record, at } = item;
      rounded.add(record, at);
      ids.translate(record);
      const oddTexts = odd.find(record);
      const cleanedNames = cleanRecord(record, options);
      const parsed = handler.validate(record);
      const errors = parsed instanceof InvalidRecord ? parsed.errors : handler.add(parsed, at);
      if (errors.length > 0) {
        collector.reject(parsed, errors, item);
        continue;
      }

      cleaned += cleanedNames;
      odd.count(oddTexts);
    }
  }

  if (options.refusesRounded) collector.addRounded(rounded);
  handler.finish((error, skipped) => collector.addLate(error, skipped));
  if (collector.errors.count > 0) throw new DatasetError(collector.errors);

  const { names, times } = odd;
  const { unknownColumns, notes } = reader;
  const hasNeedlessMap = ids.hasNeedlessMap();
  return {
    cleaned,
    names,
    times,
    unknownColumns,
    notes,
    hasNeedlessMap,
    skipped: collector.skipped,
  };
}
