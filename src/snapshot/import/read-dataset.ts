/**
 * Reads a whole dataset or change file and collects the errors in its lines. A `LineHandler` parses
 * the lines and applies the valid ones. The rows of tables are treated like lines.
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
import { type RowError, TableReader, type TableRecord } from "../../tables/read-tables.ts";
import {
  DatasetError,
  type FinalError,
  type LineError,
  LineErrorCollector,
  type LineRecord,
} from "./line-errors.ts";

/** The path of an NDJSON file (plain or gzip), the objects in its lines, or its bytes. */
export type LineSource<Item extends object = object> =
  | string
  | Iterable<Item>
  | AsyncIterable<Uint8Array>;

/** Validates the records of a dataset or a change file and applies them to a database. */
export interface LineHandler<Parsed> {
  validate(record: RawRecord, text: string): Parsed | EndLine | InvalidLine;
  /** Applies a line or a row with this number, or returns the errors in it. */
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
  /** Completes each avatar that is not an http(s) URL yet. */
  avatarBase?: string | undefined;
}

/**
 * Passes each line or row of `input` to `handler`. Resolves to whether there was nothing to read,
 * how many names have been cleaned, and the errors that were skipped. Rejects with a
 * {@link DatasetError} if any error was not skipped.
 */
export async function readDataset<Parsed extends RecordKey>(
  input: LineSource | TableReader,
  handler: LineHandler<Parsed>,
  options: ReadOptions = {},
) {
  if (input instanceof TableReader) {
    const reader = new DatasetReader(handler, options, input);
    for await (const batch of input.read()) reader.readRows(batch);
    return reader.finish(false);
  }
  const reader = new DatasetReader(handler, options);
  for await (const batch of readLines(decompress(bytesOf(input)))) reader.read(batch);
  return reader.finish(options.expectEnd ?? false);
}

/** The line or row of a record. */
type Origin = TextLine | TableRecord;

class DatasetReader<Parsed extends RecordKey> {
  private readonly handler: LineHandler<Parsed>;
  private readonly avatarBase: string | undefined;
  private readonly tables: TableReader | undefined;
  private readonly errors: LineErrorCollector;
  private readonly skipped: LineErrorCollector;
  /** Records whose lines have errors. References to these records are not reported as errors. */
  private readonly invalidRecords = new Set<string>();
  private cleaned = 0;
  private lineCount = 0;
  private lastLine = 0;
  private endLine = 0;

  constructor(
    handler: LineHandler<Parsed>,
    { maxErrors, avatarBase }: ReadOptions,
    tables?: TableReader,
  ) {
    this.handler = handler;
    this.avatarBase = avatarBase;
    this.tables = tables;
    this.errors = new LineErrorCollector(maxErrors);
    this.skipped = new LineErrorCollector(maxErrors);
  }

  read(batch: TextLine[]): void {
    for (const line of batch) {
      this.addLine(line);
      this.lineCount++;
      this.lastLine = line.number;
    }
  }

  readRows(batch: (TableRecord | RowError)[]): void {
    for (const row of batch) {
      if ("record" in row) this.addRecord(row, row.record, "");
      else this.report(row, "lines");
    }
  }

  finish(expectEnd: boolean) {
    if (expectEnd && this.endLine === 0) {
      const reason = "the end line is missing, so the dataset may be incomplete";
      this.errors.add({ line: this.lastLine + 1, field: "", reason, fix: CHECK_PIPE, ...END });
    }
    for (const { line, missing, ...error } of this.handler.finish()) {
      const { type } = error;
      const isRow = this.tables && line !== undefined && type !== undefined && type !== "end";
      const located = isRow
        ? this.tables.locate(error, { type, number: line })
        : { ...error, ...(line !== undefined && { line }) };
      this.report({ ...located, ...(missing && { missing }) }, "fields");
    }
    const { summary } = this.errors;
    if (summary.count > 0) throw new DatasetError(summary);
    const isBlank = !this.tables && this.lineCount === 0;
    return { skipped: this.skipped.summary, cleaned: this.cleaned, isBlank };
  }

  /** Reports an error that affects no whole record. It is skipped if the handler can skip. */
  private report({ missing, ...error }: FinalError, counter: "lines" | "fields"): void {
    if (missing && this.invalidRecords.has(nameOf(missing))) return;
    const collector = this.handler.skip ? this.skipped : this.errors;
    collector.summary[missing ? "references" : counter]++;
    collector.add(error);
  }

  /** Adds a line if it is valid. Otherwise, skips the invalid part or collects the errors. */
  private addLine(line: TextLine): void {
    const { text, problem, isGarbled } = line;
    if (this.endLine > 0) {
      this.fail(line, [{ field: "", reason: `comes after the end line (line ${this.endLine})` }]);
    } else if (problem !== undefined) {
      this.fail(line, [{ field: "", reason: problem, ...(isGarbled && { fix: RECODE }) }]);
    } else {
      const record = parseObject(text);
      if (record instanceof InvalidLine) this.fail(line, record.errors);
      else this.addRecord(line, record, text);
    }
  }

  private addRecord(origin: Origin, record: RawRecord, text: string): void {
    this.cleaned += cleanNames(record);
    if (this.avatarBase !== undefined) resolveAvatar(record, this.avatarBase);
    const parsed = this.handler.validate(record, text);
    if (parsed instanceof InvalidLine) {
      this.skipOrFail(origin, parsed.record, parsed, parsed.errors);
    } else if ("lines" in parsed) this.end(origin, parsed);
    else {
      const errors = this.handler.add(parsed, origin.number);
      if (errors.length > 0) this.skipOrFail(origin, parsed, parsed, errors);
    }
  }

  private end(origin: Origin, { lines }: EndLine): void {
    this.endLine = origin.number;
    if (lines === this.lineCount) return;
    const reason = `must be ${this.lineCount} (the number of lines before this one), got ${lines}`;
    this.fail(origin, [{ field: "lines", reason }], END);
  }

  private skipOrFail(
    origin: Origin,
    record: RecordKey | undefined,
    invalid: Parsed | InvalidLine,
    errors: ValidationError[],
  ): void {
    const result = record && this.handler.skip?.(record, invalid, origin.number);
    if (result === undefined) {
      const isEnd = invalid instanceof InvalidLine && invalid.value?.type === "end";
      this.fail(origin, errors, isEnd ? END : record);
      return;
    }
    const { lines, fields } = this.skipped.summary;
    // A trimmed user loses whole fields, and single elements of the lists.
    const parts = new Set(errors.map(({ field }) => /^\w+(\[\d+\])?/.exec(field)?.[0]));
    if (result === "trimmed") this.skipped.summary.fields = fields + parts.size;
    else this.skipped.summary.lines = lines + 1;
    for (const error of errors) {
      const { reason } = error;
      const skipped = { kind: reason, ...error, reason: reason + consequences[result] };
      this.skipped.add(this.locate(skipped, origin, record));
    }
  }

  private fail(origin: Origin, errors: ValidationError[], record: Partial<LineRecord> = {}): void {
    const isLine = "text" in origin;
    const mistake = isLine && this.lineCount === 0 ? detectOtherFormat(origin.text) : undefined;
    if (mistake) {
      this.errors.add({ ...mistake, line: origin.number });
      throw new DatasetError(this.errors.summary);
    }
    if (record.type !== "user") this.invalidRecords.add(nameOf(record));
    this.errors.summary.lines++;
    const fix = isLine && isCutOff(origin) && { kind: "is unfinished", fix: CHECK_PIPE };
    for (const error of errors) {
      this.errors.add(this.locate({ ...fix, ...error }, origin, record));
    }
  }

  private locate(
    error: ValidationError,
    origin: Origin,
    { type, id }: Partial<LineRecord> = {},
  ): LineError {
    const isRow = "record" in origin && this.tables;
    const at = isRow ? this.tables.locate(error, origin) : { ...error, line: origin.number };
    return { ...at, type, id };
  }
}

/** Resolves an avatar as a browser would, unless it is an http(s) URL. */
function resolveAvatar(record: RawRecord, base: string): void {
  const { avatar_url: avatar } = record;
  if (typeof avatar !== "string" || /^https?:\/\//i.test(avatar)) return;
  record.avatar_url = URL.parse(avatar, base)?.href ?? avatar;
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
