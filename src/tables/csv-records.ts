/**
 * Reads the records of a CSV file. Programs disagree about quotes and backslashes, so a file is read in
 * one of four forms, which csv-source.ts finds out.
 */
import { isNoValue } from "../domain/placeholders.ts";
import { groupDigits } from "../domain/text.ts";
import { findForeign, readFileBytes } from "../files/input.ts";

const MAX_RECORD_BYTES = 2 ** 20;
const MAX_FIELDS = 1000;

export interface CsvForm {
  delimiter: string;
  /** Whether quotes surround fields, as in RFC 4180. Otherwise they are characters like others. */
  hasQuotes: boolean;
  /** Whether a backslash escapes the next character, as MySQL and PostgreSQL write it. */
  hasEscapes: boolean;
  /** Whether the operator has said whether there are quotes. */
  isGiven: boolean;
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

export interface CsvRecord {
  cells: string[];
  /** The line on which it begins. */
  line: number;
}

/** Yields records, in batches that are read as needed. The first is the header, all others are rows. */
export async function* readRecords(
  name: string,
  path: string,
  form: CsvForm,
): AsyncGenerator<Iterable<CsvRecord>> {
  const splitter = createSplitter(name, form);
  for await (const lines of readCsvLines(name, path)) {
    const records = lines.values().map((line) => splitter.push(line));
    yield records.filter((record) => record !== undefined);
  }
  splitter.end();
}

/**
 * Yields the lines of a file in batches. If the first line ends with a CR alone, all lines do;
 * otherwise such a CR is a space. A line that is too long for any record is cut.
 */
export async function* readCsvLines(name: string, path: string): AsyncGenerator<string[]> {
  let rest = "";
  let end: string | undefined;
  const toLine = (text: string) =>
    text.includes("\r") ? text.replace(/\r+$/, "").replaceAll("\r", " ") : text;
  for await (const text of decode(name, readFileBytes(path))) {
    rest += text;
    // Whether a CR is alone shows only what follows it.
    end ??= /\r*\n|\r(?=[^\r\n])/.exec(rest)?.[0].at(-1);
    const lines = end === undefined ? [rest] : rest.split(end);
    rest = lines.pop() ?? "";
    if (rest.length > MAX_RECORD_BYTES) {
      lines.push(rest);
      rest = "";
    }
    yield lines.map(toLine);
  }
  if (rest !== "") yield [toLine(rest)];
}

/** Decodes UTF-8 and drops a BOM. */
async function* decode(name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let head: Buffer | undefined;
  try {
    for await (const chunk of bytes) {
      head ??= Buffer.from(chunk.subarray(0, 512));
      yield utf8.decode(chunk, { stream: true });
    }
    yield utf8.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Text in Windows-1252 has no zeros.
    const kind = head?.includes(0) ? findForeign(head.toString("latin1")) : undefined;
    throw new Error(`${name} is ${kind ?? NOT_UTF8}`);
  }
}

function createSplitter(file: string, form: CsvForm) {
  const { delimiter, hasQuotes, hasEscapes, isGiven } = form;
  const patterns = patternsOf(form);
  /** Undefined before the header. */
  let widths: Widths | undefined;
  /** How many lines there were so far. */
  let lines = 0;
  /** The last record: the line on which it began, its size so far in bytes, and its cells. */
  let line = 0;
  let bytes = 0;
  let cells: string[] = [];
  /** A line that ends in an escaped line end, and the beginning of a quoted field that goes on. */
  let held = "";
  let open: OpenField | undefined;

  const problem = (reason: string, at = line) => new Error(`${file}, line ${at}: ${reason}`);

  /** Takes the next line. Returns the record that ends there, unless all its cells are blank. */
  function push(next: string): CsvRecord | undefined {
    lines++;
    if (held === "" && open === undefined) {
      line = lines;
      cells = [];
      bytes = 0;
    }
    bytes += Buffer.byteLength(next) + 1;
    if (bytes > MAX_RECORD_BYTES) throw open ? problem(NEVER_CLOSED, open.line) : problem(TOO_LONG);
    if (hasEscapes && ENDS_ESCAPED.test(next)) {
      held += `${next}\n`;
      return undefined;
    }

    const text = held + next;
    held = "";
    const isSimple = !(hasEscapes && text.includes("\\")) && !(hasQuotes && text.includes('"'));
    if (isSimple && open === undefined) cells = text.split(delimiter).map(toValue);
    else if (!readFields(text)) return undefined;

    if (cells.length > MAX_FIELDS) throw problem(TOO_MANY);
    if (cells.every((cell) => cell.trim() === "")) return undefined;
    if (widths) {
      if (isRow(cells, widths)) return { cells, line };
      throw problem(`has ${cells.length} fields, but the header has ${widths.titled}; ${FIELDS}`);
    }

    if (isSeparator(cells.join(""))) return undefined;
    if (cells.length === 1 && text.includes("|")) throw problem(HAS_BARS);
    widths = widthsOf(cells);
    // Without blank titles at the end.
    return { cells: cells.slice(0, widths.titled), line };
  }

  /** Reads the fields of a line. Returns false if a quoted field goes on after it. */
  function readFields(text: string): boolean {
    let at = 0;
    for (;;) {
      if (open || (hasQuotes && text[at] === '"')) {
        const end = readQuoted(text, open ? 0 : at + 1);
        if (end === undefined) return false;
        at = end;
      } else {
        const raw = matchAt(patterns.plain, text, at);
        // After a line end in quotes, one more quote is likely to be the end of another field.
        if (hasQuotes && line < lines && raw.includes('"')) throw problem(MISPLACED, lines);
        cells.push(unescaped(toValue(raw), form, problem));
        at += raw.length;
      }

      if (at === text.length) return true;
      if (text[at] !== delimiter) throw problem(MISPLACED, lines);
      at++;
    }
  }

  /** Returns where the field ends, or undefined if that is on a later line. */
  function readQuoted(text: string, start: number): number | undefined {
    const field = open ?? { raw: "", line: lines, beginsRow: false, hasRow: false };
    const raw = matchAt(patterns.quoted, text, start);
    const end = start + raw.length;
    const isOpen = end === text.length;
    if (open || isOpen) {
      const isWhole = widths !== undefined && isRow(text.split(delimiter), widths);
      field.hasRow ||= isWhole && raw.includes(delimiter);
      const isDoubtful = delimiter === "\t" ? field.hasRow : field.beginsRow && isWhole;
      if (isDoubtful && !isOpen && !isGiven) throw new AmbiguousFile(file, field.line);
      if (!open) field.beginsRow = isWhole;
    }

    field.raw += isOpen ? `${raw}\n` : raw;
    open = isOpen ? field : undefined;
    if (isOpen) return undefined;
    cells.push(hasEscapes ? unescaped(field.raw, form, problem) : field.raw.replaceAll('""', '"'));
    return end + 1;
  }

  return {
    push,
    /** Throws if the last record goes on. */
    end(): void {
      if (open) throw problem(NEVER_CLOSED, open.line);
      if (held !== "") throw problem("the last character of the file is a backslash");
    },
  };
}

/** LibreOffice writes the characters of Windows without being asked. */
export const SAVE_AS_UTF8 =
  "save it as CSV UTF-8 (with soffice: --convert-to 'csv:Text - txt - csv (StarCalc):44,34,76')";
const NOT_UTF8 = `not UTF-8, but probably Windows-1252; ${SAVE_AS_UTF8}`;

/** Whether a line is one such as sep=; which shows Excel the separator. */
export function isSeparator(line: string): boolean {
  return /^sep=.?$/i.test(line);
}

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

/** How many columns have a title, and how many the header has. */
interface Widths {
  titled: number;
  all: number;
}

function widthsOf(titles: readonly string[]): Widths {
  const titled = titles.findLastIndex((title) => title.trim() !== "") + 1;
  return { titled, all: titles.length };
}

/** Whether cells have the header's columns. Spreadsheets may leave out those without a title. */
function isRow(cells: readonly string[], { titled, all }: Widths): boolean {
  if (cells.length < titled || cells.length > all) return false;
  return cells.slice(titled).every((cell) => cell === "");
}

/** Returns what matches a field without quotes, and the inside of one with quotes. */
function patternsOf({ delimiter, hasEscapes }: CsvForm) {
  return hasEscapes
    ? {
        plain: new RegExp(`(?:[^${delimiter}\\\\]+|\\\\.)*`, "sy"),
        quoted: /(?:[^"\\]+|\\.)*/sy,
      }
    : { plain: new RegExp(`[^${delimiter}]*`, "y"), quoted: /(?:[^"]+|"")*/y };
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** Without quotes around fields, a backslash can also stand before a separator or a letter. */
function unescaped(
  raw: string,
  { delimiter, hasQuotes, hasEscapes }: CsvForm,
  problem: (reason: string) => Error,
): string {
  if (!hasEscapes) return raw;
  const known = hasQuotes ? ESCAPES : { ...ESCAPES, ...LETTERS, [delimiter]: delimiter };
  return raw.replace(/\\(.)/gs, (_, escaped: string) => {
    const character = known[escaped];
    if (character !== undefined) return character;
    throw problem(`a backslash stands before "${escaped}", which is not an escape`);
  });
}

/** A quoted field after which the line goes on. It may be a name that begins with a quote. */
interface OpenField {
  raw: string;
  line: number;
  /** Whether its first line would be a row if quotes were characters. */
  beginsRow: boolean;
  /** Whether such a line has a tab in quotes, which is rare in texts. */
  hasRow: boolean;
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
