/**
 * Splits the lines of a CSV file into records. Programs disagree about quotes and backslashes, so a
 * file is read in one of four forms, which csv-file.ts finds out.
 */
import { isNoValue } from "../domain/text.ts";

export const MAX_RECORD_BYTES = 2 ** 20;
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

export class RecordSplitter {
  /** The line on which the last record began. */
  line = 0;
  readonly #file: string;
  readonly #form: CsvForm;
  readonly #escapes: Escapes;
  readonly #plain: RegExp;
  readonly #quoted: RegExp;
  /** How many columns have a title, and how many the header has. Undefined before it. */
  #widths: { titled: number; all: number } | undefined;
  /** How many lines there were so far. */
  #lines = 0;
  /** How many bytes the record has so far. */
  #bytes = 0;
  #cells: string[] = [];
  /** A line that ends in an escaped line end. */
  #held = "";
  /** The beginning of a quoted field that goes on. */
  #open: OpenField | undefined;

  constructor(file: string, form: CsvForm) {
    const { delimiter, hasQuotes, hasEscapes } = form;
    this.#file = file;
    this.#form = form;
    this.#escapes = hasQuotes ? ESCAPES : { ...ESCAPES, ...LETTERS, [delimiter]: delimiter };
    const plain = `[^${delimiter}]*`;
    const escaped = `[^${delimiter}\\\\]*(?:\\\\.[^${delimiter}\\\\]*)*`;
    this.#plain = new RegExp(hasEscapes ? escaped : plain, "ys");
    this.#quoted = hasEscapes ? /[^"\\]*(?:\\.[^"\\]*)*/sy : /[^"]*(?:""[^"]*)*/y;
  }

  /** Takes the next line. Returns the cells of a record that ends there, unless all are blank. */
  push(line: string): string[] | undefined {
    const { delimiter, hasQuotes, hasEscapes } = this.#form;
    this.#lines++;
    this.#measure(line);
    if (hasEscapes && ENDS_ESCAPED.test(line)) {
      this.#held += `${line}\n`;
      return undefined;
    }

    const text = this.#held + line;
    this.#held = "";
    const isSimple = !(hasEscapes && text.includes("\\")) && !(hasQuotes && text.includes('"'));
    if (isSimple && this.#open === undefined) this.#cells = text.split(delimiter).map(toValue);
    else if (!this.#readFields(text)) return undefined;

    const cells = this.#cells;
    if (cells.length > MAX_FIELDS) {
      throw this.problem(`has more than ${MAX_FIELDS.toLocaleString("en")} fields`);
    }
    if (cells.every((cell) => cell.trim() === "")) return undefined;
    if (!this.#widths || this.#isRow(cells)) return cells;

    const counts = `has ${cells.length} fields, but the header has ${this.#widths.titled}`;
    const quotes =
      "a field with a separator or a line end must be in quotes, as sqlite3 -csv and psql --csv write it";
    throw this.problem(`${counts}; ${quotes}, and one without a value must not be left out`);
  }

  /** Takes the header. All later records must be rows. Returns the titles without blank ones at the end. */
  takeHeader(cells: readonly string[]): readonly string[] {
    const titled = cells.findLastIndex((title) => title.trim() !== "") + 1;
    this.#widths = { titled, all: cells.length };
    return cells.slice(0, titled);
  }

  /** Whether cells have the header's columns. Spreadsheets may leave out those without a title. */
  #isRow(cells: readonly string[]): boolean {
    if (!this.#widths) return false;
    const { titled, all } = this.#widths;
    const isLong = cells.length >= titled && cells.length <= all;
    return isLong && cells.slice(titled).every((cell) => cell === "");
  }

  /** Throws if the last record goes on. */
  end(): void {
    if (this.#open) throw this.#neverClosed(this.#open);
    if (this.#held !== "") throw this.problem("the last character of the file is a backslash");
  }

  /** The error of a record. */
  problem(reason: string, line = this.line): Error {
    return new Error(`${this.#file}, line ${line}: ${reason}`);
  }

  #measure(line: string): void {
    if (this.#held === "" && this.#open === undefined) {
      this.line = this.#lines;
      this.#cells = [];
      this.#bytes = 0;
    }
    this.#bytes += Buffer.byteLength(line) + 1;
    if (this.#bytes <= MAX_RECORD_BYTES) return;
    throw this.#open
      ? this.#neverClosed(this.#open)
      : this.problem(`the record is longer than ${MAX_RECORD_BYTES / 2 ** 20} MiB`);
  }

  /** Reads the fields of a line. Returns false if a quoted field goes on after it. */
  #readFields(text: string): boolean {
    const { delimiter, hasQuotes } = this.#form;
    let at = 0;
    for (;;) {
      if (this.#open || (hasQuotes && text[at] === '"')) {
        const end = this.#readQuoted(text, this.#open ? 0 : at + 1);
        if (end === undefined) return false;
        at = end;
      } else {
        this.#plain.lastIndex = at;
        const [raw = ""] = this.#plain.exec(text) ?? [];
        // After a line end in quotes, one more quote is likely to be the end of another field.
        if (hasQuotes && this.line < this.#lines && raw.includes('"')) throw this.#misplaced();
        this.#cells.push(this.#unescape(toValue(raw)));
        at += raw.length;
      }

      if (at === text.length) return true;
      if (text[at] !== delimiter) throw this.#misplaced();
      at++;
    }
  }

  /** Returns where the field ends, or undefined if that is on a later line. */
  #readQuoted(text: string, start: number): number | undefined {
    const isBegun = this.#open !== undefined;
    const open = this.#open ?? { raw: "", line: this.#lines, beginsRow: false, hasRow: false };
    this.#quoted.lastIndex = start;
    const [raw = ""] = this.#quoted.exec(text) ?? [];
    const whole = open.raw + raw;
    const end = start + raw.length;
    const isOpen = end === text.length;

    if (isBegun || isOpen) {
      const { delimiter, isGiven } = this.#form;
      const isRow = this.#isRow(text.split(delimiter));
      const hasRow = open.hasRow || (isRow && raw.includes(delimiter));
      const isDoubtful = delimiter === "\t" ? hasRow : open.beginsRow && isRow;
      if (isDoubtful && !isOpen && !isGiven) throw new AmbiguousFile(this.#file, open.line);

      const beginsRow = isBegun ? open.beginsRow : isRow;
      this.#open = isOpen ? { raw: `${whole}\n`, line: open.line, beginsRow, hasRow } : undefined;
    }
    if (isOpen) return undefined;

    this.#cells.push(this.#form.hasEscapes ? this.#unescape(whole) : whole.replaceAll('""', '"'));
    return end + 1;
  }

  #unescape(raw: string): string {
    if (!this.#form.hasEscapes) return raw;
    return raw.replace(/\\(.)/gs, (_, escaped: string) => {
      const character = this.#escapes[escaped];
      if (character !== undefined) return character;
      throw this.problem(`a backslash stands before "${escaped}", which is not an escape`);
    });
  }

  #misplaced(): Error {
    const advice =
      'write a quote inside it as "", as R\'s write.csv and PHP\'s fputcsv with escape: "" do';
    return this.problem(`a quoted field goes on after its closing quote; ${advice}`, this.#lines);
  }

  #neverClosed({ line }: OpenField): Error {
    const advice = 'write a quote inside a field as "", and quotes around the field';
    return this.problem(`a quote opens a field that is never closed; ${advice}`, line);
  }
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
