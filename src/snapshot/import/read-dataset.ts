/**
 * Reads a whole dataset or change file and collects the errors in its lines. A `LineHandler` parses
 * the lines and applies the valid ones.
 */
import {
  cleanNames,
  type EndLine,
  InvalidLine,
  parseObject,
  type RawRecord,
  type RecordKey,
} from "../../domain/dataset.ts";
import { detectOtherFormat, type ValidationError } from "../../domain/validation.ts";
import { decompress } from "../../files/decompress.ts";
import { readFileBytes, readLines, type TextLine } from "../../files/lines.ts";
import {
  DatasetError,
  type FinalError,
  LineErrorCollector,
  type LineRecord,
} from "./line-errors.ts";

/** The path of an NDJSON file (plain, gzip or zstd), the objects in its lines, or its bytes. */
export type LineSource<Item extends object = object> =
  | string
  | Iterable<Item>
  | AsyncIterable<Uint8Array>;

/** Validates the records of a dataset or a change file and applies them to a database. */
export interface LineHandler<Parsed> {
  validate(record: RawRecord, text: string): Parsed | EndLine | InvalidLine;
  /** Applies a line, or returns the errors in the line. */
  add(line: Parsed, number: number): ValidationError[];
  /**
   * Leaves out a line that names its record, or the invalid part of the line. `invalid` is the line
   * as parsed, or the valid line that `add` refused. Without this method, every error is final.
   */
  skip?(record: RecordKey, invalid: Parsed | InvalidLine, number: number): Skipped;
  /** Called after the last line. Returns the errors that can be detected only at that point. */
  finish(): Iterable<FinalError>;
}

/** The result for a skipped line: whether the rest is kept, a user becomes private, or neither. */
export type Skipped = "trimmed" | "private" | "left out";

const END: Partial<LineRecord> = { type: "end" };
const RECODE = "convert the file to UTF-8, for example: iconv -f WINDOWS-1252 -t UTF-8 FILE";
/** Advice to show when a dataset seems to be incomplete. */
export const CHECK_PIPE =
  "if the dataset comes through a pipe, check whether the command before it failed";

export interface ReadOptions {
  /** Whether a missing end line is an error. A dataset without an end line may be incomplete. */
  expectEnd?: boolean | undefined;
  /** Whether the snapshot may lose more than half of its users or companies. */
  allowShrink?: boolean | undefined;
  /** How many errors of each kind to report. Defaults to 5. */
  maxErrors?: number | undefined;
}

/**
 * Passes each line of `input` to `handler`. Resolves to the number of lines, how many names have
 * been cleaned, and the errors that were skipped. Rejects with a {@link DatasetError} if any error
 * was not skipped.
 */
export async function readDataset<Parsed extends RecordKey>(
  input: LineSource,
  handler: LineHandler<Parsed>,
  { expectEnd = false, maxErrors }: ReadOptions = {},
) {
  const reader = new DatasetReader(handler, maxErrors);
  for await (const batch of readLines(decompress(bytesOf(input)))) reader.read(batch);
  return reader.finish(expectEnd);
}

class DatasetReader<Parsed extends RecordKey> {
  private readonly handler: LineHandler<Parsed>;
  private readonly errors: LineErrorCollector;
  private readonly skipped: LineErrorCollector;
  /** Records whose lines have errors. References to these records are not reported as errors. */
  private readonly invalidRecords = new Set<string>();
  private cleaned = 0;
  private lineCount = 0;
  private lastLine = 0;
  private endLine = 0;

  constructor(handler: LineHandler<Parsed>, maxErrors: number | undefined) {
    this.handler = handler;
    this.errors = new LineErrorCollector(maxErrors);
    this.skipped = new LineErrorCollector(maxErrors);
  }

  read(batch: TextLine[]): void {
    for (const line of batch) {
      this.add(line);
      this.lineCount++;
      this.lastLine = line.number;
    }
  }

  finish(expectEnd: boolean) {
    if (expectEnd && this.endLine === 0) {
      const reason = "the end line is missing, so the dataset may be incomplete";
      this.errors.add({ line: this.lastLine + 1, field: "", reason, fix: CHECK_PIPE, ...END });
    }
    const collector = this.handler.skip ? this.skipped : this.errors;
    for (const { missing, ...error } of this.handler.finish()) {
      if (missing && this.invalidRecords.has(nameOf(missing))) continue;
      collector.summary[missing ? "references" : "fields"]++;
      collector.add(error);
    }
    const { summary } = this.errors;
    if (summary.count > 0) throw new DatasetError(summary);
    return { skipped: this.skipped.summary, cleaned: this.cleaned, lines: this.lineCount };
  }

  /** Adds a line if it is valid. Otherwise, skips the invalid part or collects the errors. */
  private add(line: TextLine): void {
    const { number, text, problem, isGarbled } = line;
    if (this.endLine > 0) {
      this.fail(line, [{ field: "", reason: `comes after the end line (line ${this.endLine})` }]);
    } else if (problem !== undefined) {
      this.fail(line, [{ field: "", reason: problem, ...(isGarbled && { fix: RECODE }) }]);
    } else {
      const parsed = this.validate(text);
      if (parsed instanceof InvalidLine)
        this.skipOrFail(line, parsed.record, parsed, parsed.errors);
      else if ("lines" in parsed) this.end(line, parsed);
      else {
        const errors = this.handler.add(parsed, number);
        if (errors.length > 0) this.skipOrFail(line, parsed, parsed, errors);
      }
    }
  }

  private validate(text: string): Parsed | EndLine | InvalidLine {
    const record = parseObject(text);
    if (record instanceof InvalidLine) return record;
    this.cleaned += cleanNames(record);
    return this.handler.validate(record, text);
  }

  private end(line: TextLine, { lines }: EndLine): void {
    this.endLine = line.number;
    if (lines === this.lineCount) return;
    const reason = `must be ${this.lineCount} (the number of lines before this one), got ${lines}`;
    this.fail(line, [{ field: "lines", reason }], END);
  }

  private skipOrFail(
    line: TextLine,
    record: RecordKey | undefined,
    invalid: Parsed | InvalidLine,
    errors: ValidationError[],
  ): void {
    const result = record && this.handler.skip?.(record, invalid, line.number);
    if (result === undefined) {
      const isEnd = invalid instanceof InvalidLine && invalid.value?.type === "end";
      this.fail(line, errors, isEnd ? END : record);
      return;
    }
    const { lines, fields } = this.skipped.summary;
    // A trimmed user loses whole fields, and single elements of the lists.
    const parts = new Set(errors.map(({ field }) => /^\w+(\[\d+\])?/.exec(field)?.[0]));
    if (result === "trimmed") this.skipped.summary.fields = fields + parts.size;
    else this.skipped.summary.lines = lines + 1;
    for (const error of errors) {
      const reason = error.reason + consequences[result];
      const place = { line: line.number, type: record?.type, id: record?.id };
      this.skipped.add({ kind: error.reason, ...error, reason, ...place });
    }
  }

  private fail(line: TextLine, errors: ValidationError[], record: Partial<LineRecord> = {}): void {
    const mistake = this.lineCount === 0 ? detectOtherFormat(line.text) : undefined;
    if (mistake) {
      this.errors.add({ ...mistake, line: line.number });
      throw new DatasetError(this.errors.summary);
    }
    const { type, id } = record;
    if (type !== "user") this.invalidRecords.add(nameOf(record));
    this.errors.summary.lines++;
    const fix = isCutOff(line) && { kind: "is unfinished", fix: CHECK_PIPE };
    for (const error of errors) {
      this.errors.add({ ...fix, ...error, line: line.number, type, id });
    }
  }
}

const consequences: Record<Skipped, string> = {
  trimmed: "; the rest of the user is kept",
  private: "; the user becomes private",
  "left out": "",
};

function nameOf({ type, id }: Partial<LineRecord>): string {
  return `${type} ${id}`;
}

function bytesOf(source: LineSource): AsyncIterable<Uint8Array> {
  if (typeof source === "string") return readFileBytes(source);
  return Symbol.asyncIterator in source ? source : format(source);
}

async function* format(objects: Iterable<object>): AsyncGenerator<Uint8Array> {
  for (const object of objects) yield Buffer.from(`${JSON.stringify(object)}\n`);
}

/** Whether an invalid line is the last line of a file that was cut off. */
function isCutOff({ text, isCut = false }: TextLine): boolean {
  if (!isCut) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}
