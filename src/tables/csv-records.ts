/**
 * Reads the records of a CSV file, the header and the rows, from its lines. Programs disagree about
 * quotes and backslashes, so a file is read in one of four forms, which csv-form.ts finds out.
 */
import { isNoValue } from "../domain/placeholders.ts";
import { groupDigits } from "../domain/text.ts";
import type { TextLine } from "../files/lines.ts";
import { columnsOf, hasFreeText, type TableName } from "./columns.ts";
import { isSeparator, MAX_RECORD_BYTES } from "./csv-lines.ts";
import { findColumns, type Header } from "./header.ts";

/** The rules that an operator can give: quotes surround fields, or are characters like others. */
export const quoteRules = ["csv", "none"] as const;
export type QuoteRule = (typeof quoteRules)[number];

/** The file of a table. */
export interface CsvFile {
  name: string;
  path: string;
  table: TableName;
  /** The rule that its operator gives. */
  quotes: QuoteRule | undefined;
  /** The title of the column that is taken as the id. */
  idTitle: string | undefined;
}

export interface CsvForm {
  delimiter: string;
  /** Whether quotes surround fields, as in RFC 4180. Otherwise they are characters like others. */
  hasQuotes: boolean;
  /** Whether a backslash escapes the next character, as MySQL and PostgreSQL write it. */
  hasEscapes: boolean;
}

/** The error for a file that can be read in two ways, which would give different people. */
export class AmbiguousFile extends Error {
  constructor(file: string, line: number | undefined) {
    super(
      `${file}, line ${line}: a quote or a backslash here can have two meanings; add --quotes none ` +
        "if mysql, mysqldump, Miller or psql's COPY wrote the file, add --quotes csv if a " +
        "spreadsheet or a CSV library did, or write it again with mysql --batch, sqlite3 -csv or psql " +
        "--csv",
    );
  }
}

const MAX_FIELDS = 1000;

interface CsvRow {
  /** The cells of the table's columns, in their order. */
  cells: string[];
  /** The line on which it begins. */
  line: number;
}

/** A header whose columns have been found. */
interface ReadHeader extends Header {
  /** The index of each of the table's columns, or -1. */
  indexes: number[];
  /** How many columns it has, and how many without the blank ones at the end. */
  width: number;
  titledWidth: number;
}

/** A record that may continue on the next line. */
interface OpenRecord {
  line: number;
  bytes: number;
  /** The lines that end in a backslash, which escapes the line end, and whose fields are not yet split. */
  escaped: string;
  /** The fields so far. */
  cells: string[];
  /** The last field, if it is in quotes that are still open. */
  field?: OpenField | undefined;
}

/**
 * A quoted field with a line end in it. If quotes were characters, its lines might be rows, so it is
 * doubtful whether it is one field. For example, in a file with the columns `id` and `name`:
 *
 * | its lines | beginsRow | hasRow | doubtful with commas | doubtful with tabs |
 * |---|---|---|---|---|
 * | `7,"Ann` and `8,Eve"` | yes | yes | yes | yes |
 * | `7,"Ann` and `Eve"` | yes | no | no | no |
 * | `7,"Ann, Bea` and `8,Eve"` | no | yes | no | yes |
 *
 * With tabs, each `,` here is a tab.
 */
interface OpenField {
  line: number;
  /** Whether its first line would be a row if quotes were characters. */
  beginsRow: boolean;
  /** Whether one of its lines would be a row, and has a tab in the field, which is rare in texts. */
  hasRow: boolean;
}

export type RowReader = ReturnType<typeof createRowReader>;

/** Reads a file in one form, line by line. Throws an error that names the line if the form is wrong. */
export function createRowReader(file: CsvFile, form: CsvForm) {
  const { delimiter } = form;
  const split = createSplitter(form);
  /** Undefined until it has been read. */
  let header: ReadHeader | undefined;
  /** The record that continues on the next line. */
  let unfinished: OpenRecord | undefined;

  /** Takes the next line. Returns the row that ends there, unless it is blank. */
  function push({ number, text: line }: TextLine): CsvRow | undefined {
    const record: OpenRecord = unfinished ?? { line: number, bytes: 0, escaped: "", cells: [] };
    unfinished = record;
    record.bytes += Buffer.byteLength(line) + 1;
    if (record.bytes > MAX_RECORD_BYTES) {
      const { field } = record;
      throw field ? problem(file, field.line, NEVER_CLOSED) : problem(file, record.line, TOO_LONG);
    }
    if (form.hasEscapes && ENDS_ESCAPED.test(line)) {
      record.escaped += `${line}\n`;
      return undefined;
    }

    const text = record.escaped + line;
    record.escaped = "";
    addFields(record, text, number);
    if (record.field) return undefined;

    unfinished = undefined;
    if (record.cells.length > MAX_FIELDS) throw problem(file, record.line, TOO_MANY);
    if (record.cells.every((cell) => cell.trim() === "")) return undefined;
    if (header) return toRow(file, form, header, record);
    if (!isSeparator(record.cells.join(""))) header = readHeader(file, record);
    return undefined;
  }

  /** Adds the fields of a text, which ends on line `number`. */
  function addFields(record: OpenRecord, text: string, number: number): void {
    const { line, field } = record;
    const fail = (reason: string) => problem(file, number, reason);
    // The rest of a quoted field is split like one that begins.
    const { cells, isOpen } = split(field ? `"${text}` : text, line < number, fail);
    if (!field && !isOpen) {
      record.cells = cells;
      return;
    }

    const isRow = header !== undefined && isAsWide(text.split(delimiter), header);
    if (field) {
      const begun = record.cells.pop();
      const rest = cells.shift() ?? "";
      record.cells.push(`${begun}\n${rest}`);
      field.hasRow ||= isRow && rest.includes(delimiter);
      if (isOpen && cells.length === 0) return;
      const isDoubtful = delimiter === "\t" ? field.hasRow : field.beginsRow && isRow;
      if (isDoubtful && file.quotes === undefined) throw new AmbiguousFile(file.name, field.line);
    }
    record.cells = record.cells.concat(cells);
    const hasRow = isRow && cells.at(-1)?.includes(delimiter) === true;
    record.field = isOpen ? { line: number, beginsRow: isRow, hasRow } : undefined;
  }

  return {
    push,
    /** Whether the header has been read, and the next line begins a record. */
    isBetween: () => header !== undefined && unfinished === undefined,
    /** Returns the header. Throws if there is none, or if the last record is not complete. */
    end(): Header {
      if (unfinished?.field) throw problem(file, unfinished.field.line, NEVER_CLOSED);
      if (unfinished) throw problem(file, unfinished.line, ENDS_IN_BACKSLASH);
      if (header) return header;
      throw new Error(`${file.name} is empty; its first line must name the columns`);
    },
  };
}

function problem({ name }: CsvFile, line: number, reason: string): Error {
  return new Error(`${name}, line ${line}: ${reason}`);
}

function readHeader(file: CsvFile, { cells, line }: OpenRecord): ReadHeader {
  if (cells.length === 1 && cells[0]?.includes("|")) throw problem(file, line, HAS_BARS);
  const titledWidth = cells.findLastIndex((title) => title.trim() !== "") + 1;
  const found = findColumns(file.name, file.table, cells.slice(0, titledWidth), file.idTitle);
  const indexes = columnsOf(file.table).map((column) => found.columns.get(column) ?? -1);
  return { ...found, indexes, width: cells.length, titledWidth };
}

function toRow(
  file: CsvFile,
  { hasQuotes }: CsvForm,
  header: ReadHeader,
  { cells, line }: OpenRecord,
): CsvRow {
  if (!isAsWide(cells, header)) {
    const widths = `has ${cells.length} fields, but the header has ${header.titledWidth}`;
    throw problem(file, line, `${widths}; ${FIELDS}`);
  }
  // A column such as an id never has quotes.
  for (const [column, at] of hasQuotes ? [] : header.columns) {
    if (hasFreeText(column) || !cells[at]?.startsWith('"')) continue;
    throw problem(file, line, `${column} begins with a quote, so ${SURROUNDED}`);
  }
  return { cells: header.indexes.map((at) => cells[at] ?? ""), line };
}

/** Whether cells have the header's columns. Spreadsheets may leave out those without a title. */
function isAsWide(cells: readonly string[], { width, titledWidth }: ReadHeader): boolean {
  if (cells.length < titledWidth || cells.length > width) return false;
  return cells.slice(titledWidth).every((cell) => cell === "");
}

/** The fields of a text. */
interface Fields {
  cells: string[];
  /** Whether the last one is in quotes that are still open. */
  isOpen: boolean;
}

/** Makes the error for a text. */
type Fail = (reason: string) => Error;

/** Returns a function that splits a text into fields. */
function createSplitter({ delimiter, hasQuotes, hasEscapes }: CsvForm) {
  const plain = hasEscapes
    ? new RegExp(`(?:[^${delimiter}\\\\]+|\\\\.)*`, "sy")
    : new RegExp(`[^${delimiter}]*`, "y");
  const quoted = hasEscapes ? /(?:[^"\\]+|\\.)*/sy : /(?:[^"]+|"")*/y;
  // Without quotes, a backslash can also stand before a separator or a letter.
  const escapes = hasQuotes ? ESCAPES : { ...ESCAPES, ...LETTERS, [delimiter]: delimiter };

  const unescaped = (raw: string, fail: Fail) =>
    raw.replace(/\\(.)/gs, (_, escaped: string) => {
      const character = escapes[escaped];
      if (character !== undefined) return character;
      throw fail(`a backslash stands before "${escaped}", which is not an escape`);
    });

  return (text: string, isLaterLine: boolean, fail: Fail): Fields => {
    if (!/["\\]/.test(text)) return { cells: text.split(delimiter).map(toValue), isOpen: false };

    const cells: string[] = [];
    for (let at = 0; at <= text.length; at++) {
      if (hasQuotes && text[at] === '"') {
        const raw = matchAt(quoted, text, at + 1);
        cells.push(hasEscapes ? unescaped(raw, fail) : raw.replaceAll('""', '"'));
        at += raw.length + 2;
        if (at > text.length) return { cells, isOpen: true };
      } else {
        const raw = matchAt(plain, text, at);
        // After a line end in quotes, one more quote is likely to be the end of another field.
        if (hasQuotes && isLaterLine && raw.includes('"')) throw fail(MISPLACED);
        cells.push(hasEscapes ? unescaped(toValue(raw), fail) : toValue(raw));
        at += raw.length;
      }
      if (at < text.length && text[at] !== delimiter) throw fail(MISPLACED);
    }
    return { cells, isOpen: false };
  };
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

function toValue(raw: string): string {
  return isNoValue(raw) ? "" : raw;
}

const ENDS_ESCAPED = /(?<!\\)(?:\\\\)*\\$/;

/** The characters that stand after a backslash, and what both stand for. */
type Escapes = Partial<Record<string, string>>;
const ESCAPES: Escapes = { "\\": "\\", '"': '"', "\n": "\n", 0: "\0" };
/** Where there are no quotes. */
const LETTERS: Escapes = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

const HAS_BARS =
  "commas, semicolons or tabs must separate the columns, as sqlite3 -csv -header and psql --csv write them";
const TOO_LONG = `the record is longer than ${MAX_RECORD_BYTES / 2 ** 20} MiB`;
const TOO_MANY = `has more than ${groupDigits(MAX_FIELDS)} fields`;
const FIELDS =
  "a field with a separator or a line end must be in quotes, as sqlite3 -csv and psql --csv write it, and one without a value must not be left out";
const NEVER_CLOSED =
  'a quote opens a field that is never closed; write a quote inside a field as "", and quotes around the field';
const MISPLACED =
  'a quoted field goes on after its closing quote; write a quote inside it as "", as R\'s write.csv and PHP\'s fputcsv with escape: "" do';
const SURROUNDED = "quotes surround fields; leave out --quotes none";
const ENDS_IN_BACKSLASH = "the last character of the file is a backslash";
