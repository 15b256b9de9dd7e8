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
import type { ValidationError } from "../../domain/validation-errors.ts";
import { decompress, readFileBytes, readLines, type TextLine } from "../../files/input.ts";
import type { UnknownColumn } from "../../tables/columns.ts";
import { type IdMap, type IdMapOptions, idInSource } from "../../tables/id-map.ts";
import { TableReader } from "../../tables/read-tables.ts";
import { DatasetError, type LineError, LineErrors } from "./line-errors.ts";

/** The path of an NDJSON file (plain or gzip), the objects in its lines, or its bytes. */
export type LineSource<Item extends object = object> =
  | string
  | Uint8Array
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
   * Leaves out the invalid part of a line that is invalid or was refused by `add`, and returns what
   * to add to the messages. Counts users hidden in `to`. Without this method, every error is final.
   */
  skip?(record: RecordKey, invalid: Parsed | InvalidLine, line: number, to: LineErrors): string;
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
  /** Names with HTML entities, and names with U+FFFD or that look like UTF-8 read as Latin-1. */
  names: { entities: OddNames; misread: OddNames };
  /** The columns of tables that were left out. */
  unknownColumns: readonly UnknownColumn[];
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
  const names: Read["names"] = { entities: { count: 0 }, misread: { count: 0 } };
  const { errors, skipped, report, reject } = createReport(handler, options.maxErrors, tables);
  let cleaned = 0;
  let [lineCount, endLine] = [0, 0];

  function addLine(line: TextLine): void {
    const { text, problem: reason } = line;
    const record = reason ? new InvalidLine([{ field: "", reason }]) : parseObject(text);
    if (endLine > 0) {
      reject(line, [{ field: "", reason: `comes after the end line (line ${endLine})` }]);
    } else if (record instanceof InvalidLine) reject(line, record.errors);
    else addRecord(record, line.number);
    lineCount++;
  }

  /** Without a `line`, the record is a row of a database, which its id identifies. */
  function addRecord(record: RawRecord, line?: number, first?: unknown): void {
    handler.idMap?.translate(record);
    const origin = { number: line ?? Number(record.id), first };
    const oddNames = decodeNames(record, names, options.decodeHtml);
    cleaned += cleanNames(record);
    if (options.avatarBase !== undefined) resolveAvatar(record, options.avatarBase);
    const parsed = handler.validate(record);
    if (parsed instanceof InvalidLine) reject(origin, parsed.errors, parsed);
    else if ("lines" in parsed) addEnd(origin.number, parsed);
    else {
      const found = handler.add(parsed, origin.number);
      if (found.length > 0) reject(origin, found, parsed);
      else
        for (const [odd, name] of oddNames) {
          odd.count++;
          odd.example ??= name;
        }
    }
  }

  function addEnd(number: number, { lines }: EndLine): void {
    endLine = number;
    if (lines === lineCount) return;
    const reason = `must be ${lineCount} (the number of lines before this one), got ${lines}`;
    reject({ number }, [{ field: "lines", reason }]);
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
  for (const error of handler.finish()) report(error);
  if (errors.count > 0) throw new DatasetError(errors);
  return { cleaned, names, unknownColumns: tables?.unknownColumns ?? [], skipped };
}

/** Collects errors, which are skipped if the handler can, and adds where they are. */
function createReport<Parsed extends RecordKey>(
  handler: LineHandler<Parsed>,
  maxErrors?: number,
  tables?: TableReader,
) {
  const errors = new LineErrors(maxErrors);
  const skipped = new LineErrors(maxErrors);
  /** Records whose lines have errors. References to these records are not reported as errors. */
  const invalidRecords = new Set<string>();

  const idOf = ({ type, id }: Pick<LineError, "type" | "id">) =>
    type && typeof id === "number" ? idInSource({ type, id }, handler.idMap) : id;

  /** References in tables are found before ids are replaced, so records go by the source's ids. */
  const nameOf = (record: Pick<LineError, "type" | "id">) => `${record.type} ${idOf(record)}`;

  function add(list: LineErrors, { line, ...error }: LineError, first?: unknown): void {
    const { type } = error;
    const id = idOf(error);
    const isRow = tables && type && line !== undefined;
    const located = isRow ? tables.locate(error, type, { line, id, first }) : { ...error, line };
    list.add({ ...located, type, id });
  }

  return {
    errors,
    skipped,

    /** Reports an error in part of a record or outside records. */
    report(error: LineError): void {
      if (error.missing && invalidRecords.has(nameOf(error.missing))) return;
      add(handler.skip ? skipped : errors, error);
    },

    /** Reports the errors in a line, and skips the `invalid` record in it. */
    reject(
      { number: line, first }: { number: number; first?: unknown },
      found: ValidationError[],
      invalid?: Parsed | InvalidLine,
    ): void {
      const record = invalid instanceof InvalidLine ? invalid.record : invalid;
      const { type, id } = record ?? {};
      const skip = record && invalid && handler.skip?.(record, invalid, line, skipped);
      const isFinal = skip === undefined;
      if (isFinal && record && type !== "user") invalidRecords.add(nameOf(record));
      for (const { field, reason, kind = reason } of found) {
        const error = { field, reason: reason + (skip ?? ""), kind, type, id, line };
        add(isFinal ? errors : skipped, error, first);
      }
    },
  };
}

/** Decodes HTML in a record if asked to. Returns the names that look odd, and how. */
function decodeNames(record: RawRecord, { entities, misread }: Read["names"], decodes = false) {
  const isPrivate = record.type === "user" && record.public !== true;
  const found: [OddNames, string][] = [];
  for (const field of ["description", "name", "role"]) {
    const owner = field === "role" ? Object(record.company) : record;
    const text = owner[field];
    if (typeof text !== "string" || !/[&\x80-\xff\ufffd]/.test(text)) continue;
    const decoded = decodeHTMLStrict(text);
    if (decodes) owner[field] = decoded;
    if (isPrivate || field === "description") continue;
    if (!decodes && decoded !== text) found.push([entities, text]);
    const isLatin = /[\x80-\xff]/.test(text) && !/[^\0-\xff]/.test(text);
    const isMisread = isLatin && isUtf8(Buffer.from(text, "latin1"));
    if (isMisread || text.includes("\ufffd")) found.push([misread, text]);
  }
  return found;
}

/** Resolves an avatar as a browser would, unless it is an http(s) URL. */
function resolveAvatar(record: RawRecord, base: string): void {
  const { avatar_url: avatar } = record;
  if (typeof avatar !== "string" || /^https?:\/\//i.test(avatar)) return;
  record.avatar_url = URL.parse(avatar, base)?.href ?? avatar;
}

async function* bytesOf(source: LineSource): AsyncGenerator<Uint8Array> {
  if (typeof source === "string") yield* readFileBytes(source);
  else if (source instanceof Uint8Array) yield source;
  else if (Symbol.asyncIterator in source) yield* source;
  else for (const object of source) yield Buffer.from(`${JSON.stringify(object)}\n`);
}
