/** Reads the rows of a CSV file, after finding out what its quotes and backslashes mean. */
import { basename } from "node:path";
import { findForeign } from "../files/file-kinds.ts";
import { readFileBytes } from "../files/input.ts";
import { findColumns, type Header, hasFreeText, type TableName, toColumn } from "./columns.ts";
import { AmbiguousFile, type CsvForm, MAX_RECORD_BYTES, RecordSplitter } from "./csv-records.ts";

/** What an operator can say about quotes: they surround fields, or are characters like others. */
export const quoteRules = ["csv", "none"] as const;
export type QuoteRule = (typeof quoteRules)[number];

export interface FileOptions {
  /** Whether quotes surround fields, where a file does not show it. */
  quotes?: QuoteRule | undefined;
  /** The title of the column that is taken as the id. */
  key?: string | undefined;
}

export interface RowHandler {
  begin(header: Header): void;
  /** Called with the line on which the row begins. */
  add(cells: readonly string[], line: number): void;
}

/** What the lines of a file show by themselves. */
interface Traits {
  delimiter: string;
  /** The first line with a field that begins with a quote. */
  quoteLine?: number;
  /** The first line with a backslash that may be an escape. */
  backslashLine?: number;
  /** Whether \N or \0 stands where people write nothing. Then backslashes are escapes. */
  hasEscapes: boolean;
}

export class CsvFile {
  readonly name: string;
  readonly #table: TableName;
  readonly #path: string;
  readonly #rule: QuoteRule | undefined;
  readonly #key: string | undefined;

  constructor(table: TableName, path: string, { quotes, key }: FileOptions) {
    this.name = basename(path);
    this.#table = table;
    this.#path = path;
    this.#rule = quotes;
    this.#key = key;
  }

  /**
   * Reads all rows. Returns what quotes and backslashes mean if only the rows could show it. Throws
   * an {@link AmbiguousFile} if they do not.
   */
  async read(handler: RowHandler): Promise<string | undefined> {
    const traits = await this.#examine();
    const form = await this.#findForm(traits);
    try {
      await this.#readAs(form, handler);
    } catch (error) {
      const { quoteLine } = traits;
      const others = this.#rule === undefined ? this.#listForms(traits, false) : [];
      const isOther = quoteLine !== undefined && (await this.#listFitting(others)).length > 0;
      throw isOther ? new AmbiguousFile(this.name, quoteLine) : error;
    }
    return this.#isUnclear(traits) ? this.#describe(form) : undefined;
  }

  /**
   * Without tabs, quotes surround fields. With tabs, they may be characters, too. Whatever the rows
   * leave open must give the same people.
   */
  async #findForm(traits: Traits): Promise<CsvForm> {
    const forms = this.#listForms(traits, this.#rule !== "none");
    if (this.#isUnclear(traits)) forms.push(...this.#listForms(traits, false));
    if (forms.length === 1) return forms[0];

    const all = await this.#listFitting(forms);
    const escaped = traits.hasEscapes ? all.filter(({ hasEscapes }) => hasEscapes) : [];
    const fitting = escaped.length > 0 ? escaped : all;
    const [form = forms[0]] = fitting;
    if (this.#rule !== undefined) return form;

    const { quoteLine, backslashLine } = traits;
    const hasOtherQuotes = fitting.some(({ hasQuotes }) => hasQuotes !== form.hasQuotes);
    if (quoteLine !== undefined && hasOtherQuotes) throw new AmbiguousFile(this.name, quoteLine);
    if (fitting.every(({ hasEscapes }) => hasEscapes === form.hasEscapes)) return form;
    throw new AmbiguousFile(this.name, backslashLine);
  }

  /** Whether the quotes and backslashes of the file can be those of several programs. */
  #isUnclear({ delimiter, quoteLine, backslashLine }: Traits): boolean {
    const isPlain = quoteLine === undefined && backslashLine === undefined;
    return this.#rule === undefined && delimiter === "\t" && !isPlain;
  }

  /** The forms in which quotes have one meaning, the likelier one first. */
  #listForms({ delimiter, backslashLine }: Traits, hasQuotes: boolean): [CsvForm, ...CsvForm[]] {
    const form = { delimiter, hasQuotes, hasEscapes: false, isGiven: this.#rule !== undefined };
    if (backslashLine === undefined) return [form];
    const escaped = { ...form, hasEscapes: true };
    return this.#rule === "none" ? [escaped, form] : [form, escaped];
  }

  async #listFitting(forms: readonly CsvForm[]): Promise<CsvForm[]> {
    const fitting: CsvForm[] = [];
    for (const form of forms) {
      try {
        await this.#readAs(form);
        fitting.push(form);
      } catch (error) {
        if (error instanceof AmbiguousFile && fitting.length === 0) throw error;
      }
    }
    return fitting;
  }

  #describe({ hasQuotes, hasEscapes }: CsvForm): string {
    const quotes = hasQuotes ? "quotes surround fields" : "quotes are characters";
    return `${this.name}: ${quotes}, and backslashes are ${hasEscapes ? "escapes" : "characters"}`;
  }

  /** Looks at all lines without knowing where a quoted field begins or ends. */
  async #examine(): Promise<Traits> {
    const traits: Traits = { delimiter: ",", hasEscapes: false };
    let columns: string[] | undefined;
    let number = 0;
    for await (const lines of readLines(this.name, this.#path)) {
      for (const line of lines) {
        number++;
        const isBlank = columns === undefined ? !/[^\s,;"]/.test(line) : !/["\\]/.test(line);
        if (isBlank) continue;
        if (columns === undefined) traits.delimiter = findDelimiter(line);
        if (isSeparator(line)) continue;

        const cells = line.split(traits.delimiter);
        columns ??= cells.map((title) => toColumn(this.#table, title.replaceAll('"', "")));
        if (cells.some((cell) => cell.startsWith('"'))) traits.quoteLine ??= number;
        for (const [at, cell] of cells.entries()) {
          if (!cell.includes("\\")) continue;
          if (cell !== "\\N") traits.backslashLine ??= number;
          if (/^\\[N0]$/.test(cell) && !hasFreeText(columns[at] ?? "")) traits.hasEscapes = true;
        }
      }
    }
    return traits;
  }

  /** Reads all rows in one form. Throws if the file has another one. */
  async #readAs(form: CsvForm, handler?: RowHandler): Promise<void> {
    const splitter = new RecordSplitter(this.name, form);
    let header: Header | undefined;
    for await (const lines of readLines(this.name, this.#path)) {
      for (const line of lines) {
        const cells = splitter.push(line);
        if (!cells) continue;

        if (header) {
          if (!form.hasQuotes) this.#refuseQuoted(cells, header, splitter);
          handler?.add(cells, splitter.line);
        } else if (!isSeparator(cells.join(""))) {
          if (cells.length === 1 && line.includes("|")) throw splitter.problem(HAS_BARS);
          header = findColumns(this.name, this.#table, splitter.takeHeader(cells), this.#key);
          handler?.begin(header);
        }
      }
    }
    splitter.end();
    if (!header) throw new Error(`${this.name} is empty; its first line must name the columns`);
  }

  /** Throws if a quote begins a cell in which nobody writes one. */
  #refuseQuoted(cells: readonly string[], { columns }: Header, splitter: RecordSplitter): void {
    for (const [column, at] of columns) {
      if (hasFreeText(column) || !cells[at]?.startsWith('"')) continue;
      const problem = `${column} begins with a quote, so quotes surround fields`;
      throw splitter.problem(`${problem}; leave out --quotes none`);
    }
  }
}

/** Whether a line is one such as sep=; which shows Excel the separator. */
function isSeparator(line: string): boolean {
  return /^sep=.?$/i.test(line);
}

/** Returns the most frequent separator. */
function findDelimiter(line: string): string {
  const count = (delimiter: string) => line.split(delimiter).length;
  return [",", ";", "\t"].reduce((best, other) => (count(other) > count(best) ? other : best));
}

/** Yields the lines of a file in batches. A line that is too long for any record is cut. */
async function* readLines(name: string, path: string): AsyncGenerator<string[]> {
  let rest = "";
  for await (const text of decode(name, readFileBytes(path))) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_RECORD_BYTES) {
      lines.push(rest);
      rest = "";
    }
    yield lines;
  }
  if (rest !== "") yield [rest];
}

/**
 * Decodes UTF-8 and drops a BOM. Lines then end with a line feed. If the first line ends with a CR
 * alone, all lines do; otherwise such a CR is a space.
 */
async function* decode(name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let head: Buffer | undefined;
  let held = "";
  let loneReturn: string | undefined;

  try {
    for await (const chunk of bytes) {
      head ??= Buffer.from(chunk.subarray(0, 512));
      const text = held + utf8.decode(chunk, { stream: true });
      const whole = text.replace(/\r+$/, "");
      // The line feed that belongs to a CR may be in the next chunk.
      held = text.slice(whole.length);

      const [end] = /\r+\n|\r|\n/.exec(whole) ?? [];
      if (end !== undefined) loneReturn ??= end === "\r" ? "\n" : " ";
      yield whole.replace(/\r+\n/g, "\n").replaceAll("\r", loneReturn ?? " ");
    }
    yield utf8.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Text in Windows-1252 has no zeros.
    const kind = head?.includes(0) ? findForeign(head.toString("latin1")) : undefined;
    throw new Error(`${name} is ${kind ?? NOT_UTF8}`);
  }
}

const HAS_BARS =
  "commas, semicolons or tabs must separate the columns, as sqlite3 -csv -header and psql --csv write them";

/** LibreOffice writes the characters of Windows without being asked. */
export const SAVE_AS_UTF8 =
  "save it as CSV UTF-8 (with soffice: --convert-to 'csv:Text - txt - csv (StarCalc):44,34,76')";
const NOT_UTF8 = `not UTF-8, but probably Windows-1252; ${SAVE_AS_UTF8}`;
