/** Reads the rows of a CSV file, after finding out what its quotes and backslashes mean. */
import { findForeign, readFileBytes } from "../files/input.ts";
import { type ColumnName, columnsOf, hasFreeText, type TableName } from "./columns.ts";
import {
  AmbiguousFile,
  type CsvForm,
  type CsvRecord,
  createSplitter,
  isSeparator,
  MAX_RECORD_BYTES,
} from "./csv-records.ts";
import { findColumns, findTitled, type Header } from "./header.ts";

/** What an operator can say about quotes: they surround fields, or are characters like others. */
export const quoteRules = ["csv", "none"] as const;
export type QuoteRule = (typeof quoteRules)[number];

interface CsvFile {
  name: string;
  path: string;
  table: TableName;
  /** What its operator says about quotes. */
  quotes: QuoteRule | undefined;
  /** The title of the column that is taken as the id. */
  key: string | undefined;
}

/** Takes a row: its cells in the order of the table's columns, and the line on which it begins. */
type AddRow = (cells: readonly string[], line: number) => void;

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

/**
 * Reads all rows. A note says what quotes and backslashes mean, if only the rows could show it. Throws
 * an {@link AmbiguousFile} if they do not.
 */
export async function readCsv(file: CsvFile, add: AddRow): Promise<Header> {
  const traits = await examine(file);
  const { delimiter, quoteLine, backslashLine } = traits;
  const isPlain = quoteLine === undefined && backslashLine === undefined;
  // Several programs write tabs. Without tabs, quotes surround fields.
  const isUnclear = file.quotes === undefined && delimiter === "\t" && !isPlain;
  const form = await findForm(file, traits, isUnclear);
  try {
    const header = await readAs(file, form, add);
    if (isUnclear) header.notes.push(describeForm(file, form));
    return header;
  } catch (error) {
    if (file.quotes !== undefined || quoteLine === undefined) throw error;
    const others = listForms(file, traits, true).filter(({ hasQuotes }) => !hasQuotes);
    const isOther = (await listFitting(file, others)).length > 0;
    throw isOther ? new AmbiguousFile(file.name, quoteLine) : error;
  }
}

/** Whatever the rows leave open must give the same people. */
async function findForm(file: CsvFile, traits: Traits, isUnclear: boolean): Promise<CsvForm> {
  const forms = listForms(file, traits, isUnclear);
  if (forms.length === 1) return forms[0];

  const { quoteLine, backslashLine, hasEscapes } = traits;
  const all = await listFitting(file, forms);
  const escaped = all.filter((form) => hasEscapes && form.hasEscapes);
  const fitting = escaped.length > 0 ? escaped : all;
  const [form = forms[0]] = fitting;
  if (file.quotes !== undefined) return form;

  const hasOtherQuotes = fitting.some(({ hasQuotes }) => hasQuotes !== form.hasQuotes);
  if (quoteLine !== undefined && hasOtherQuotes) throw new AmbiguousFile(file.name, quoteLine);
  if (fitting.every(({ hasEscapes }) => hasEscapes === form.hasEscapes)) return form;
  throw new AmbiguousFile(file.name, backslashLine);
}

/** The forms that a file can have by its traits and its operator, the likelier ones first. */
function listForms(
  { quotes }: CsvFile,
  { delimiter, backslashLine }: Traits,
  isUnclear: boolean,
): [CsvForm, ...CsvForm[]] {
  const hasBackslash = backslashLine !== undefined;
  const hasQuotes = quotes !== "none";
  const hasEscapes = hasBackslash && !hasQuotes;
  const form = { delimiter, hasQuotes, hasEscapes, isGiven: quotes !== undefined };
  const forms: [CsvForm, ...CsvForm[]] = [form];
  if (hasBackslash) forms.push({ ...form, hasEscapes: !hasEscapes });
  if (isUnclear) forms.push(...forms.map((each) => ({ ...each, hasQuotes: false })));
  return forms;
}

async function listFitting(file: CsvFile, forms: readonly CsvForm[]): Promise<CsvForm[]> {
  const fitting: CsvForm[] = [];
  for (const form of forms) {
    try {
      await readAs(file, form);
      fitting.push(form);
    } catch (error) {
      if (error instanceof AmbiguousFile && fitting.length === 0) throw error;
    }
  }
  return fitting;
}

function describeForm({ name }: CsvFile, { hasQuotes, hasEscapes }: CsvForm): string {
  const quotes = hasQuotes ? "quotes surround fields" : "quotes are characters";
  return `${name}: ${quotes}, and backslashes are ${hasEscapes ? "escapes" : "characters"}`;
}

/** Looks at all lines without knowing where a quoted field begins or ends. */
async function examine({ name, path, table }: CsvFile): Promise<Traits> {
  const traits: Traits = { delimiter: ",", hasEscapes: false };
  let columns: (ColumnName | undefined)[] | undefined;
  let number = 0;
  for await (const lines of readCsvLines(name, path)) {
    for (const line of lines) {
      number++;
      const isBlank = columns === undefined ? !/[^\s,;"]/.test(line) : !/["\\]/.test(line);
      if (isBlank) continue;
      if (columns === undefined) traits.delimiter = findDelimiter(line);
      if (isSeparator(line)) continue;

      const cells = line.split(traits.delimiter);
      columns ??= cells.map((title) => findTitled(table, title.replaceAll('"', "")));
      if (cells.some((cell) => cell.startsWith('"'))) traits.quoteLine ??= number;
      for (const [at, cell] of cells.entries()) {
        if (!cell.includes("\\")) continue;
        if (cell !== "\\N") traits.backslashLine ??= number;
        const column = columns[at];
        const isFree = column === undefined || hasFreeText(column);
        if (/^\\[N0]$/.test(cell) && !isFree) traits.hasEscapes = true;
      }
    }
  }
  return traits;
}

/** Reads all rows in one form. Throws if the file has another one. */
async function readAs(
  { name, path, table, key }: CsvFile,
  form: CsvForm,
  add?: AddRow,
): Promise<Header> {
  const splitter = createSplitter(name, form);
  const columns = columnsOf(table);
  let header: Header | undefined;
  /** The index of each of the table's columns. */
  let indexes: number[] = [];
  for await (const lines of readCsvLines(name, path)) {
    for (const line of lines) {
      const record = splitter.push(line);
      if (!record) continue;

      if (header) {
        if (!form.hasQuotes) refuseQuoted(name, record, header);
        add?.(
          indexes.map((at) => record.cells[at] ?? ""),
          record.line,
        );
      } else {
        header = findColumns(name, table, record.cells, key);
        indexes = columns.map((column) => header?.columns.get(column) ?? -1);
      }
    }
  }
  splitter.end();
  if (header) return header;
  throw new Error(`${name} is empty; its first line must name the columns`);
}

/** Throws if a quote begins a cell in which nobody writes one. */
function refuseQuoted(name: string, { cells, line }: CsvRecord, { columns }: Header): void {
  for (const [column, at] of columns) {
    if (hasFreeText(column) || !cells[at]?.startsWith('"')) continue;
    const problem = `${column} begins with a quote, so quotes surround fields`;
    throw new Error(`${name}, line ${line}: ${problem}; leave out --quotes none`);
  }
}

/** Returns the most frequent separator. */
function findDelimiter(line: string): string {
  const count = (delimiter: string) => line.split(delimiter).length;
  return [",", ";", "\t"].reduce((best, other) => (count(other) > count(best) ? other : best));
}

/**
 * Yields the lines of a file in batches. If the first line ends with a CR alone, all lines do;
 * otherwise such a CR is a space. A line that is too long for any record is cut.
 */
async function* readCsvLines(name: string, path: string): AsyncGenerator<string[]> {
  let rest = "";
  let end: string | undefined;
  const toLine = (text: string) => text.replace(/\r+$/, "").replace(/[\r\n]/g, " ");
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

/** LibreOffice writes the characters of Windows without being asked. */
export const SAVE_AS_UTF8 =
  "save it as CSV UTF-8 (with soffice: --convert-to 'csv:Text - txt - csv (StarCalc):44,34,76')";
const NOT_UTF8 = `not UTF-8, but probably Windows-1252; ${SAVE_AS_UTF8}`;
