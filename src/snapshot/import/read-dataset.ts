/**
 * Reads a whole dataset or change file and collects the errors in its lines. The rows of tables are
 * treated like lines.
 */
import { isUtf8 } from "node:buffer";
import { decodeHTMLStrict } from "entities/decode";
import {
  cleanNames,
  type EndLine,
  InvalidLine,
  parseObject,
  type RawRecord,
  type RecordKey,
} from "../../domain/dataset.ts";
import type { ValidationError } from "../../domain/invalid-values.ts";
import { decompress } from "../../files/decompress.ts";
import { readFileBytes, readLines, type TextLine } from "../../files/lines.ts";
import type { UnknownColumn } from "../../tables/columns.ts";
import { type IdMap, type IdMapOptions, idInSource } from "../../tables/id-map.ts";
import { TableReader } from "../../tables/read-tables.ts";
import { DatasetError, type LineError, LineErrors } from "./line-errors.ts";

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
   * Leaves out a line, or its invalid part, and returns what to add to the messages. `invalid` is
   * the line as parsed, or the argument that `add` refused. Without this method, every error is
   * final.
   */
  skip?(record: RecordKey, invalid: Parsed | InvalidLine, number: number): string;
  /** How many users became private because a line about them is invalid. */
  readonly hidden?: number;
  /** Returns the errors that can be detected only after the last line. */
  finish(): Iterable<LineError>;
}

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

/** Names that may be wrong in the source. Those of private users and invalid records do not count. */
export interface OddNames {
  count: number;
  /** The first of them. */
  example?: string;
}

/** Rejects with a {@link DatasetError} if any error was not skipped. */
export async function readDataset<Parsed extends RecordKey>(
  input: LineSource | TableReader,
  handler: LineHandler<Parsed>,
  options: ReadOptions,
): Promise<Read> {
  const tables = input instanceof TableReader ? input : undefined;
  const errors = new LineErrors(options.maxErrors);
  const skipped = new LineErrors(options.maxErrors);
  const names = { entities: { count: 0 }, misread: { count: 0 } };
  /** Records whose lines have errors. References to these records are not reported as errors. */
  const invalidRecords = new Set<string>();
  let cleaned = 0;
  let lineCount = 0;
  let endLine = 0;

  const idOf = ({ type, id }: Pick<LineError, "type" | "id">) =>
    type && typeof id === "number" ? idInSource({ type, id }, handler.idMap) : id;

  /** References in tables are found before ids are replaced, so records go by the source's ids. */
  const nameOf = (record: Pick<LineError, "type" | "id">) => `${record.type} ${idOf(record)}`;

  function locate({ line, ...error }: LineError, first?: unknown): LineError {
    const { type } = error;
    const id = idOf(error);
    if (line === undefined) return { ...error, id };
    const isRow = tables && type;
    const located = isRow ? tables.locate(error, type, { line, id, first }) : { ...error, line };
    return { ...located, type, id };
  }

  /** Reports an error in part of a record or outside records. Skips it if the handler can skip. */
  function report(error: LineError): void {
    if (error.missing && invalidRecords.has(nameOf(error.missing))) return;
    (handler.skip ? skipped : errors).add(error);
  }

  /** Reports the errors in a line. Skips them if the handler can skip the `invalid` record. */
  function reject(
    { number, first }: { number: number; first?: unknown },
    found: ValidationError[],
    invalid?: Parsed | InvalidLine,
  ): void {
    const record = invalid instanceof InvalidLine ? invalid.record : invalid;
    const { type, id } = record ?? {};
    const consequence = record && invalid && handler.skip?.(record, invalid, number);
    if (consequence === undefined && record && type !== "user") invalidRecords.add(nameOf(record));
    for (const error of found) {
      const { reason, kind = reason } = error;
      const reported = { ...error, kind, reason: reason + (consequence ?? "") };
      const located = locate({ ...reported, type, id, line: number }, first);
      (consequence === undefined ? errors : skipped).add(located);
    }
  }

  /** Without a `line`, the record is a row of a database, which its id identifies. */
  function addRecord(record: RawRecord, line?: number, first?: unknown): void {
    handler.idMap?.translate(record);
    const origin = { number: line ?? Number(record.id), first };
    const oddNames = decodeNames(record, options.decodeHtml ?? false);
    cleaned += cleanNames(record);
    if (options.avatarBase !== undefined) resolveAvatar(record, options.avatarBase);
    const parsed = handler.validate(record);
    if (parsed instanceof InvalidLine) reject(origin, parsed.errors, parsed);
    else if ("lines" in parsed) addEnd(origin.number, parsed);
    else {
      const found = handler.add(parsed, origin.number);
      if (found.length > 0) reject(origin, found, parsed);
      else oddNames.forEach(countOddName);
    }
  }

  function countOddName([kind, example]: [keyof Read["names"], string]): void {
    const odd: OddNames = names[kind];
    odd.count++;
    odd.example ??= example;
  }

  function addEnd(number: number, { lines }: EndLine): void {
    endLine = number;
    if (lines === lineCount) return;
    const reason = `must be ${lineCount} (the number of lines before this one), got ${lines}`;
    reject({ number }, [{ field: "lines", reason }]);
  }

  function addLine(line: TextLine): void {
    const { text, problem: reason } = line;
    const record = reason ? new InvalidLine([{ field: "", reason }]) : parseObject(text);
    if (endLine > 0) {
      reject(line, [{ field: "", reason: `comes after the end line (line ${endLine})` }]);
    } else if (record instanceof InvalidLine) reject(line, record.errors);
    else addRecord(record, line.number);
    lineCount++;
  }

  if (input instanceof TableReader) {
    for await (const batch of input.read()) {
      for (const row of batch) {
        if ("record" in row) addRecord(row.record, row.line, row.first);
        else report(row);
      }
    }
  } else {
    for await (const batch of readLines(decompress(bytesOf(input)))) batch.forEach(addLine);
    if (options.expectEnd && endLine === 0) {
      const reason = "the end line is missing, so the dataset may be incomplete";
      errors.add({ field: "", reason });
    }
  }
  for (const error of handler.finish()) report(locate(error));
  if (errors.count > 0) throw new DatasetError(errors);
  skipped.hidden = handler.hidden ?? 0;
  const { unknownColumns = [], slowQueries = [] } = tables ?? {};
  return { cleaned, names, unknownColumns, slowQueries, skipped };
}

/** Decodes HTML in a record if asked to. Returns the names that look odd, by the kind of oddity. */
function decodeNames(record: RawRecord, decodes: boolean): [keyof Read["names"], string][] {
  const isPrivate = record.type === "user" && record.public !== true;
  const found: [keyof Read["names"], string][] = [];
  const fields = [
    [record, "description"],
    [record, "name"],
    [Object(record.company), "role"],
  ];
  for (const [owner, field] of fields) {
    const text = owner[field];
    if (typeof text !== "string" || !/[&\x80-\xff]/.test(text)) continue;
    const decoded = decodeHTMLStrict(text);
    if (decodes) owner[field] = decoded;
    if (isPrivate || field === "description") continue;
    if (!decodes && decoded !== text) found.push(["entities", text]);
    const isLatin = /[\x80-\xff]/.test(text) && !/[^\0-\xff]/.test(text);
    if (isLatin && isUtf8(Buffer.from(text, "latin1"))) found.push(["misread", text]);
  }
  return found;
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
