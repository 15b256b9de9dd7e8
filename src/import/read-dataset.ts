/**
 * Reads a whole dataset or change file, whatever its source is. Each record gets its numbers, is
 * cleaned, validated and given to a handler. An error is final unless the handler skips what is
 * invalid.
 */
import type { RawRecord, RecordKey } from "../domain/dataset.ts";
import { createRoundedIds } from "../domain/keys.ts";
import type {
  FoundError,
  Location,
  Position,
  RecordItem,
  RecordReader,
  UnknownColumn,
} from "../domain/record-reader.ts";
import { InvalidRecord } from "../domain/validate-record.ts";
import { createCleaner, type OddCount } from "./clean-record.ts";
import type { Ids } from "./ids.ts";
import type { ImportOptions } from "./options.ts";
import { DatasetError, RecordErrors, SkippedErrors } from "./record-errors.ts";

/** Validates the records of a dataset or a change file and applies them to a database. */
interface RecordHandler<Parsed> {
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

/** The fate of a record of which all, or the invalid part, was skipped. */
export type Skipped = keyof typeof consequences;

/** Takes an error, and what has become of the user. */
export type Report = (error: FoundError, skipped?: Skipped) => void;

/** The ends of messages about a skipped record. */
const consequences = {
  "left out": "",
  trimmed: "; the rest of the user is kept",
  "made private": "; the user becomes private",
  "private already": "; the user becomes private",
};

const ROUNDED =
  "looks like a number that a program has rounded, and so do all other long ids of this type; have that program read ids as text, or import them as they are with --force";

type ReadOptions = Pick<ImportOptions, "avatarBase" | "decodeHtml" | "maxErrors"> & {
  /** Whether it is an error if all long ids of a type look rounded. */
  refusesRounded?: boolean;
};

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
  skipped: SkippedErrors;
}

/** Rejects with a {@link DatasetError} if any error was not skipped. Times after `nowMs` are odd. */
export async function readDataset<Parsed extends RecordKey>(
  reader: RecordReader,
  handler: RecordHandler<Parsed>,
  ids: Ids,
  nowMs: number,
  options: ReadOptions,
): Promise<ReadReport> {
  const cleaner = await createCleaner(nowMs, options);
  const collector = createCollector(handler, reader, ids, options.maxErrors);
  const rounded = createRoundedIds();

  for await (const items of reader.read()) {
    for (const item of items) {
      if ("problem" in item) {
        collector.add(item.problem, item.isFatal, item.location);
        if (item.losesUser) collector.skipped.leftOut++;
        continue;
      }

      const { record, at } = item;
      rounded.add(record, at);
      ids.translate(record);
      const oddTexts = cleaner.clean(record);
      const parsed = handler.validate(record);
      const errors = parsed instanceof InvalidRecord ? parsed.errors : handler.add(parsed, at);
      if (errors.length > 0) collector.reject(parsed, errors, item);
      else cleaner.count(oddTexts);
    }
  }

  const columns = options.refusesRounded ? rounded.list() : [];
  for (const first of columns) collector.add({ field: "id", reason: ROUNDED, ...first }, true);
  handler.finish((error, skipped) => {
    if (skipped === "made private") collector.skipped.hidden++;
    collector.add(error, false);
  });
  if (collector.errors.count > 0) throw new DatasetError(collector.errors);

  const { cleaned, times, ...names } = cleaner.odd;
  return {
    cleaned: cleaned.count,
    names,
    times,
    unknownColumns: reader.unknownColumns,
    notes: reader.notes,
    skipped: collector.skipped,
  };
}

/** Collects errors, and has the reader say where they are. */
function createCollector<Parsed extends RecordKey>(
  handler: RecordHandler<Parsed>,
  reader: RecordReader,
  ids: Ids,
  maxErrors: number | undefined,
) {
  const errors = new RecordErrors(maxErrors);
  const skipped = new SkippedErrors(maxErrors);
  /** Records that are invalid themselves. References to them are not reported as errors. */
  const invalid = new Set<string>();

  const idOf = ({ type, id }: Pick<FoundError, "type" | "id">) =>
    type && typeof id === "number" ? ids.inSource({ type, id }) : id;
  /** References in tables are found before ids are replaced, so records go by the source's ids. */
  const nameOf = (record: Pick<FoundError, "type" | "id">) => `${record.type} ${idOf(record)}`;

  function add(error: FoundError, isFinal: boolean, location?: Location): void {
    if (error.missing && invalid.has(nameOf(error.missing))) return;
    const named = { ...error, id: idOf(error) };
    const all = isFinal || !handler.skip ? errors : skipped;
    all.add(named, location ?? reader.locate(named));
  }

  /** Adds the errors in a record, and skips the record if possible. */
  function reject(
    parsed: Parsed | InvalidRecord,
    found: readonly FoundError[],
    { at, first }: RecordItem,
  ): void {
    const record = parsed instanceof InvalidRecord ? parsed.record : parsed;
    const { type, id } = record ?? {};
    const fate = record && handler.skip?.(record, parsed, at);
    if (fate === "made private") skipped.hidden++;

    const isFinal = fate === undefined;
    if (isFinal && record && type !== "user") invalid.add(nameOf(record));

    const consequence = isFinal ? "" : consequences[fate];
    for (const error of found) {
      const { reason, kind = reason } = error;
      const where = { type, id, at, first: error.isDuplicate ? (error.first ?? first) : undefined };
      add({ ...error, ...where, reason: reason + consequence, kind }, isFinal);
    }
  }

  return { errors, skipped, add, reject };
}
