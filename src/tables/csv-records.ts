/**
 * Reads the records of a CSV file, the header and the rows, from its lines. Programs disagree about
 * quotes and backslashes, so a file is read in one of four forms, which csv-form.ts finds out.
 */
import { groupDigits, isNoValue } from "../domain/text.ts";
import type { TextLine } from "../files/lines.ts";
import { columnsOf, hasFreeText, type TableName } from "./columns.ts";
import { isSeparator, MAX_RECORD_BYTES, readCsvLines } from "./csv-lines.ts";
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

/** The error for a row of another width than the header, which no other form would read otherwise. */
export class WrongWidth extends Error {}

const MAX_FIELDS = 1000;

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
  /** The fields that are complete. */
  cells: string[];
  /** The field after these, if it is in quotes that are still open: where it begins, and its lines. */
  quoted?: { line: number; lines: QuotedLine[] } | undefined;
}

/** A line of a field in quotes, and the part of it that is inside. */
interface QuotedLine {
  text: string;
  inside: string;
}

/**
 * Reads a file in one form, and returns its header. Passes each row to `add`: the cells of the table's
 * columns, in their order, and the line on which it begins. Throws an {@link AmbiguousFile} if a quoted
 * field may be several rows, or an error that names the line if the file is not in this form.
 */
export async function readRows(
  file: CsvFile,
  form: CsvForm,
  add: (cells: readonly string[], line: number) => void,
): Promise<Header> {
  const split = createSplitter(file, form);
  let header: ReadHeader | undefined;
  /** The record that continues on the next line. */
  let unfinished: OpenRecord | undefined;

  function take({ number, text }: TextLine): void {
    const record: OpenRecord = unfinished ?? { line: number, bytes: 0, escaped: "", cells: [] };
    const { line, quoted } = record;
    unfinished = record;
    record.bytes += Buffer.byteLength(text) + 1;
    if (record.bytes > MAX_RECORD_BYTES) {
      throw quoted ? misfit(file, quoted.line, NEVER_CLOSED) : misfit(file, line, TOO_LONG);
    }
    if (form.hasEscapes && ENDS_ESCAPED.test(text)) {
      record.escaped += `${text}\n`;
      return;
    }

    addFields(record, number, record.escaped + text);
    record.escaped = "";
    if (record.quoted) return;

    unfinished = undefined;
    const { cells } = record;
    if (cells.length > MAX_FIELDS) throw misfit(file, line, TOO_MANY);
    if (cells.every((cell) => cell.trim() === "")) return;
    if (header) add(pickCells(header, cells, line), line);
    else if (!isSeparator(cells.join(""))) header = readHeader(file, cells, line);
  }

  /** Adds the fields of a text, of which the first may be the rest of a quoted one. */
  function addFields(record: OpenRecord, line: number, text: string): void {
    const { quoted } = record;
    // That rest is split like a field that begins.
    const { cells, open } = split(quoted ? `"${text}` : text, line, record.line < line);
    if (quoted) {
      const end = cells.shift();
      quoted.lines.push({ text, inside: end ?? open ?? "" });
      if (end === undefined) return;
      if (file.quotes === undefined && isDoubtful(quoted.lines)) {
        throw new AmbiguousFile(file.name, quoted.line);
      }
      record.cells.push(quoted.lines.map(({ inside }) => inside).join("\n"));
    }
    record.cells = record.cells.concat(cells);
    record.quoted = open === undefined ? undefined : { line, lines: [{ text, inside: open }] };
  }

  /**
   * Whether a quoted field with a line end in it may be several rows, if quotes are characters. Commas are
   * frequent in texts, so there, its first and its last line must be rows. Tabs are rare, so there, one row
   * with a tab inside is enough. For example, in a file with the columns `id` and `name`:
   *
   * | lines | with commas | with tabs (in place of `,`) |
   * |---|---|---|
   * | `7,"Ann` and `8,Eve"` | doubtful | doubtful |
   * | `7,"Ann` and `Eve"` | one field | one field |
   * | `7,"Ann, Bea` and `8,Eve"` | one field | doubtful |
   */
  function isDoubtful(lines: readonly QuotedLine[]): boolean {
    const { delimiter } = form;
    const isRow = ({ text }: QuotedLine) => header && isAsWide(text.split(delimiter), header);
    if (delimiter === "\t") return lines.some((line) => line.inside.includes("\t") && isRow(line));
    return [lines[0], lines.at(-1)].every((line) => line && isRow(line));
  }

  /** Returns the cells of the table's columns. */
  function pickCells(header: ReadHeader, cells: readonly string[], line: number): string[] {
    if (!isAsWide(cells, header)) {
      const widths = `has ${cells.length} fields, but the header has ${header.titledWidth}`;
      const error = misfit(file, line, `${widths}; ${FIELDS}`);
      const isPlain = !cells.some((cell) => /["\\]/.test(cell));
      throw isPlain ? new WrongWidth(error.message) : error;
    }
    // A column such as an id never has quotes.
    for (const [column, at] of form.hasQuotes ? [] : header.columns) {
      if (hasFreeText(column) || !cells[at]?.startsWith('"')) continue;
      throw misfit(file, line, `${column} begins with a quote, so ${SURROUNDED}`);
    }
    return header.indexes.map((at) => cells[at] ?? "");
  }

  for await (const lines of readCsvLines(file.name, file.path)) lines.forEach(take);
  if (unfinished?.quoted) throw misfit(file, unfinished.quoted.line, NEVER_CLOSED);
  if (unfinished) throw misfit(file, unfinished.line, ENDS_IN_BACKSLASH);
  if (header) return header;
  throw new Error(`${file.name} is empty; its first line must name the columns`);
}

/** The error for a line that is not written in the form in which the file is read. */
function misfit(file: CsvFile, line: number, reason: string): Error {
  return new Error(`${file.name}, line ${line}: ${reason}`);
}

function readHeader(file: CsvFile, cells: readonly string[], line: number): ReadHeader {
  if (cells.length === 1 && cells[0]?.includes("|")) throw misfit(file, line, HAS_BARS);
  const titledWidth = cells.findLastIndex((title) => title.trim() !== "") + 1;
  const found = findColumns(file.name, file.table, cells.slice(0, titledWidth), file.idTitle);
  const indexes = columnsOf(file.table).map((column) => found.columns.get(column) ?? -1);
  return { ...found, indexes, width: cells.length, titledWidth };
}

/** Whether cells have the header's columns. Spreadsheets may leave out those without a title. */
function isAsWide(cells: readonly string[], { width, titledWidth }: ReadHeader): boolean {
  if (cells.length < titledWidth || cells.length > width) return false;
  return cells.slice(titledWidth).every((cell) => cell === "");
}

/** The fields of a text. */
interface Fields {
  cells: string[];
  /** The field after these, if it is in quotes that are still open. */
  open?: string;
}

/** Returns a function that splits a text, which ends on a line, into fields. */
function createSplitter(file: CsvFile, { delimiter, hasQuotes, hasEscapes }: CsvForm) {
  const plain = hasEscapes
    ? new RegExp(`(?:[^${delimiter}\\\\]+|\\\\.)*`, "sy")
    : new RegExp(`[^${delimiter}]*`, "y");
  const quoted = hasEscapes ? /(?:[^"\\]+|\\.)*/sy : /(?:[^"]+|"")*/y;
  // Without quotes, a backslash can also stand before a separator or a letter.
  const escapes = hasQuotes ? ESCAPES : { ...ESCAPES, ...LETTERS, [delimiter]: delimiter };

  const unescaped = (raw: string, line: number) =>
    raw.replace(/\\(.)/gs, (_, escaped: string) => {
      const character = escapes[escaped];
      if (character !== undefined) return character;
      throw misfit(file, line, `a backslash stands before "${escaped}", which is not an escape`);
    });

  return (text: string, line: number, isLaterLine: boolean): Fields => {
    const cells: string[] = [];
    for (let at = 0; at <= text.length; at++) {
      if (hasQuotes && text[at] === '"') {
        const raw = matchAt(quoted, text, at + 1);
        const field = hasEscapes ? unescaped(raw, line) : raw.replaceAll('""', '"');
        at += raw.length + 2;
        if (at > text.length) return { cells, open: field };
        cells.push(field);
      } else {
        const raw = matchAt(plain, text, at);
        // After a line end in quotes, one more quote is likely to be the end of another field.
        if (hasQuotes && isLaterLine && raw.includes('"')) throw misfit(file, line, MISPLACED);
        cells.push(hasEscapes ? unescaped(toValue(raw), line) : toValue(raw));
        at += raw.length;
      }
      if (at < text.length && text[at] !== delimiter) throw misfit(file, line, MISPLACED);
    }
    return { cells };
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
