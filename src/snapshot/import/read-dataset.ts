/**
 * Reads a whole dataset or change file and collects the errors in its lines. The rows of tables are
 * treated like lines.
 */
import {
  cleanNames,
  type EndLine,
  InvalidLine,
  parseObject,
  type RawRecord,
  type RecordKey,
} from "../../domain/dataset.ts";
import type { ValidationError } from "../../domain/invalid-values.ts";
import { decompress, readFileBytes, readLines, type TextLine } from "../../files/input.ts";
import type { UnknownColumn } from "../../tables/columns.ts";
import { type IdMap, type IdMapOptions, idInSource } from "../../tables/id-map.ts";
import { type RowError, TableReader, type TableRecord } from "../../tables/read-tables.ts";
import { DatasetError, type LineError, LineErrors } from "./line-errors.ts";
import { NameInspector, type OddNames } from "./odd-names.ts";

/** The path of an NDJSON file (plain or gzip), the objects in its lines, or its bytes. */
export type LineSource<Item extends object = object> =
  | string
  | Iterable<Item>
  | AsyncIterable<Uint8Array>;

/** Validates the records of a dataset or a change file and applies them to a database. */
export interface LineHandler<Parsed> {
  /** Replaces the ids in a record before it is validated. */
  idMap?: IdMap | undefined;
  validate(record: RawRecord): Parsed | EndLine | InvalidLine;
  /** Applies a line or a row with this number, or returns the errors in it. */
  add(line: Parsed, number: number): ValidationError[];
  /**
   * Leaves out a line, or its invalid part. `invalid` is the line as parsed, or the argument that
   * `add` refused. Without this method, every error is final.
   */
  skip?(record: RecordKey, invalid: Parsed | InvalidLine, number: number): Consequence;
  /** Returns the errors that can be detected only after the last line. */
  finish(): Iterable<LineError>;
}

/** The consequence of skipping an error, which is added to its message. */
export const consequences = {
  trimmed: "; the rest of the user is kept",
  hidden: "; the user becomes private",
  leftOut: "",
} as const;
export type Consequence = (typeof consequences)[keyof typeof consequences];

const END = { type: "end" } as const;

export interface ReadOptions extends IdMapOptions {
  /** Whether a missing end line is an error, because the dataset may be incomplete. */
  expectEnd?: boolean | undefined;
  /** Whether more than half of the (public) users, companies or unlocked achievements may go. */
  allowShrink?: boolean | undefined;
  /** Whether an import may make more than half of the private users, and more than ten, public. */
  allowReveal?: boolean | undefined;
  /** How many errors of each kind to report. Defaults to 5. */
  maxErrors?: number | undefined;
  /** Base URL for avatars that are not http(s) URLs. */
  avatarBase?: string | undefined;
  /** Whether to decode HTML entities in names and descriptions. */
  decodeHtml?: boolean | undefined;
}

/** The report on a dataset that has been read. */
export interface Read {
  /** How many names had invisible characters or extra white space. */
  cleaned: number;
  /** Names with HTML entities, and names that look like UTF-8 read as Latin-1. */
  names: { entities: OddNames; misread: OddNames };
  /** The columns of tables that were left out. */
  unknownColumns: readonly UnknownColumn[];
  /** The queries of which a page took longer than half a second. */
  slowQueries: readonly string[];
  skipped: LineErrors;
}

/** Rejects with a {@link DatasetError} if any error was not skipped. */
export async function readDataset<Parsed extends RecordKey>(
  input: LineSource | TableReader,
  handler: LineHandler<Parsed>,
  options: ReadOptions,
): Promise<Read> {
  if (input instanceof TableReader) {
    const reader = new DatasetReader(handler, options, input);
    for await (const batch of input.read()) for (const row of batch) reader.addRow(row);
    return reader.finish(false);
  }
  const reader = new DatasetReader(handler, options);
  for await (const batch of readLines(decompress(bytesOf(input)))) {
    for (const line of batch) reader.addLine(line);
  }
  return reader.finish(options.expectEnd ?? false);
}

type Origin = Pick<TextLine, "number"> & Pick<TableRecord, "first">;

class DatasetReader<Parsed extends RecordKey> {
  cleaned = 0;
  readonly names: NameInspector;
  readonly skipped: LineErrors;
  private readonly errors: LineErrors;
  private readonly handler: LineHandler<Parsed>;
  private readonly avatarBase: string | undefined;
  private readonly tables: TableReader | undefined;
  /** Records whose lines have errors. References to these records are not reported as errors. */
  private readonly invalidRecords = new Set<string>();
  private lineCount = 0;
  private endLine = 0;

  constructor(handler: LineHandler<Parsed>, options: ReadOptions, tables?: TableReader) {
    this.handler = handler;
    this.avatarBase = options.avatarBase;
    this.tables = tables;
    this.names = new NameInspector(options.decodeHtml);
    this.errors = new LineErrors(options.maxErrors);
    this.skipped = new LineErrors(options.maxErrors);
  }

  addRow(row: TableRecord | RowError): void {
    if ("record" in row) this.addRecord(row.record, row.line, row.first);
    else this.report(row);
  }

  addLine(line: TextLine): void {
    const { text, problem: reason } = line;
    const record = reason ? new InvalidLine([{ field: "", reason }]) : parseObject(text);
    if (this.endLine > 0) {
      this.fail(line, [{ field: "", reason: `comes after the end line (line ${this.endLine})` }]);
    } else if (record instanceof InvalidLine) this.fail(line, record.errors);
    else this.addRecord(record, line.number);
    this.lineCount++;
  }

  finish(expectEnd: boolean): Read {
    if (expectEnd && this.endLine === 0) {
      const reason = "the end line is missing, so the dataset may be incomplete";
      this.errors.add({ field: "", reason, ...END });
    }
    for (const { line, ...error } of this.handler.finish()) {
      const located = line === undefined ? error : this.locate(error, { number: line }, error);
      this.report({ ...located, id: this.idOf(error) }, error.missing);
    }
    if (this.errors.count > 0) throw new DatasetError(this.errors);
    const { entities, misread } = this.names;
    const { unknownColumns = [], slowQueries = [] } = this.tables ?? {};
    const names = { entities, misread };
    const { cleaned, skipped } = this;
    return { cleaned, names, unknownColumns, slowQueries, skipped };
  }

  /** Reports an error in part of a record or outside records. Skips it if the handler can skip. */
  private report(error: LineError, missing = error.missing): void {
    if (missing && this.invalidRecords.has(this.nameOf(missing))) return;
    const errors = this.handler.skip ? this.skipped : this.errors;
    errors.add(error);
  }

  /** Without a `line`, the record is a row of a database, which its id identifies. */
  private addRecord(record: RawRecord, line?: number, first?: unknown): void {
    this.handler.idMap?.translate(record);
    const origin = { number: line ?? Number(record.id), first };
    const oddNames = this.names.inspect(record);
    this.cleaned += cleanNames(record);
    if (this.avatarBase !== undefined) resolveAvatar(record, this.avatarBase);
    const parsed = this.handler.validate(record);
    if (parsed instanceof InvalidLine) {
      this.skipOrFail(origin, parsed.record, parsed, parsed.errors);
    } else if ("lines" in parsed) this.end(origin, parsed);
    else {
      const errors = this.handler.add(parsed, origin.number);
      if (errors.length > 0) this.skipOrFail(origin, parsed, parsed, errors);
      else {
        for (const [odd, name] of oddNames) {
          odd.count++;
          odd.example ??= name;
        }
      }
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
    const consequence = record && this.handler.skip?.(record, invalid, origin.number);
    if (consequence === undefined) {
      const isEnd = invalid instanceof InvalidLine && invalid.value.type === "end";
      this.fail(origin, errors, isEnd ? END : record);
      return;
    }
    for (const error of errors) {
      const { reason, kind = reason } = error;
      const skipped = { ...error, kind, reason: reason + consequence };
      this.skipped.add(this.locate(skipped, origin, record));
    }
  }

  private fail(
    origin: Origin,
    errors: ValidationError[],
    record: Pick<LineError, "type" | "id"> = {},
  ): void {
    if (record.type !== "user") this.invalidRecords.add(this.nameOf(record));
    for (const error of errors) this.errors.add(this.locate(error, origin, record));
  }

  private locate(
    error: ValidationError,
    origin: Origin,
    record: Pick<LineError, "type" | "id"> = {},
  ): LineError {
    const { type } = record;
    const id = this.idOf(record);
    const isRow = this.tables && type !== undefined && type !== "end";
    const located = isRow
      ? this.tables.locate(error, type, { line: origin.number, id, first: origin.first })
      : { ...error, line: origin.number };
    return { ...located, type, id };
  }

  /** References in tables are found before ids are replaced, so records go by the source's ids. */
  private nameOf(record: Pick<LineError, "type" | "id">): string {
    return `${record.type} ${this.idOf(record)}`;
  }

  private idOf({ type, id }: Pick<LineError, "type" | "id">): LineError["id"] {
    if (type === undefined || type === "end" || typeof id !== "number") return id;
    return idInSource({ type, id }, this.handler.idMap);
  }
}

/** Resolves an avatar as a browser would, unless it is an http(s) URL. */
function resolveAvatar(record: RawRecord, base: string): void {
  const { avatar_url: avatar } = record;
  if (typeof avatar !== "string" || /^https?:\/\//i.test(avatar)) return;
  record.avatar_url = URL.parse(avatar, base)?.href ?? avatar;
}

function bytesOf(source: LineSource): AsyncIterable<Uint8Array> {
  if (typeof source === "string") return readFileBytes(source);
  return Symbol.asyncIterator in source ? source : format(source);
}

async function* format(objects: Iterable<object>): AsyncGenerator<Uint8Array> {
  for (const object of objects) yield Buffer.from(`${JSON.stringify(object)}\n`);
}
